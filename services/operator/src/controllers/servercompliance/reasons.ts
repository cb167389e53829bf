import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

export const complianceReasons = {
  SetsComply: {
    meaning: 'Settings and firmware of the server and its BMC are as all sets that select them want.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  SetsDeviate: {
    meaning: 'Settings or firmware differ from what a set wants; the message names the set.',
    remedy: 'Nothing while the rollout of the set is in progress; else see the condition Ready of the set.',
    weight: 'waiting',
    actor: 'operator',
  },
  SetsNotCompared: {
    meaning: 'Settings or firmware were not compared with what a set wants yet; the message names the set.',
    remedy: 'Nothing; if it lasts, see the condition Ready of the object of that set.',
    weight: 'working',
    actor: 'operator',
  },
  NoSetConcerned: {
    meaning: 'No set selects the server any more: the condition is removed.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;
