import { ServerReadinessRule } from '@metal/api/v1alpha1/server-readiness-rule.ts';
import { readinessRuleFinalizer } from '@metal/api/wire/contract.ts';
import { phaseController } from '@metal/kube/controller.ts';
import { readRuleFacts } from './facts.ts';
import { judgeDeletion, rulePhases } from './phases.ts';
import { ruleReasons } from './reasons.ts';
import { reportRule } from './report.ts';
import { wakeWithServers } from './wakes.ts';

export const readinessRuleController = phaseController({
  name: 'serverreadinessrule',
  kind: ServerReadinessRule,
  phaseOf: () => 'InForce',
  facts: readRuleFacts,
  table: rulePhases,
  reasons: ruleReasons,
  finalizer: readinessRuleFinalizer,
  deletion: judgeDeletion,
  actions: {},
  report: reportRule,
  wakes: wakeWithServers,
  writes: ['patch:serverreadinessrules', 'serverreadinessrules/status'],
});
