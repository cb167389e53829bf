import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { readinessRuleFinalizer } from '@metal/api/wire/contract.ts';
import { readRuleFacts } from './facts.ts';
import { decideDeletion, ruleTable } from './table.ts';
import { ruleReasons } from './reasons.ts';
import { reportRule } from './report.ts';
import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import { readinessSource } from './sources.ts';

export const readinessRuleController = phaseController({
  name: 'serverreadinessrule',
  kind: ServerReadinessRule,
  phaseOf: () => 'InForce',
  facts: readRuleFacts,
  table: ruleTable,
  reasons: ruleReasons,
  finalizer: readinessRuleFinalizer,
  deletion: decideDeletion,
  actions: {},
  report: reportRule,
  sources: readinessSource,
  writes: ['patch:serverreadinessrules', 'serverreadinessrules/status'],
});
