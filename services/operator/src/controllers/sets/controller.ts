import { phaseController } from '@metal/kube/controller/phase-controller.ts';
import type { Controller } from '@metal/kube/controller/definition.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import type { Update } from '../../rollouts/update.ts';
import type { OperatorContext } from '../context.ts';
import { setActions, type SetMemory } from './actions.ts';
import { readSetFacts, type SetFacts, type SetPhase } from './facts.ts';
import { setReasonsOf } from './reasons.ts';
import { counterNames, reportSet } from './report.ts';
import type { SetKind, UpdateSet } from './set-kind.ts';
import {
  biosSettingsSets,
  biosVersionSets,
  bmcSettingsSets,
  bmcVersionSets,
  firmwareVersionSets,
} from './set-kinds.ts';
import { setWatches } from './watches.ts';
import { decideDeletion, type SetAction, setTable } from './table.ts';

/** The controller of one kind of set. */
function setController<S extends UpdateSet, C extends Update>(kind: SetKind<S, C>): Controller<OperatorContext> {
  return phaseController<S, SetPhase, SetFacts<C>, SetAction, OperatorContext, SetMemory>({
    name: kind.name,
    kind: kind.kind,
    phaseOf: () => 'Active',
    memory: () => ({ cacheBehindUntil: 0 }),
    facts: (set, { caches }, { now, memory }) => ({
      ...readSetFacts(kind, set, caches),
      isCacheBehind: now < memory.cacheBehindUntil,
    }),
    table: setTable,
    reasons: setReasonsOf(kind.kind.plural, kind.childKind.plural),
    finalizer: kind.finalizer,
    deletion: decideDeletion,
    actions: setActions(kind),
    report: (set, facts, outcome) => reportSet(kind, set, facts, outcome),
    // Objects complete while others are started.
    stepsPerReconcile: 200,
    progressFields: [...counterNames(kind), 'observedGeneration', 'rollout', 'plan'],
    paused: ({ metadata }) => metadata.annotations?.[operationAnnotation] === operations.ignore,
    watches: setWatches(kind),
    writes: [kind.childKind.plural, `patch:${kind.kind.plural}`, `${kind.kind.plural}/status`],
  });
}

/** The controllers of all sets. */
export const setControllers = [
  setController(biosSettingsSets),
  setController(biosVersionSets),
  setController(bmcSettingsSets),
  setController(bmcVersionSets),
  setController(firmwareVersionSets),
] as const;
