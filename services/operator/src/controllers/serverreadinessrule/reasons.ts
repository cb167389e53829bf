import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

export const ruleReasons = {
  AllServersReady: {
    meaning: 'Every server that the rule selects satisfies it.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  ServersNotReady: {
    meaning: 'The rule is in force and keeps some servers from being claimed; the message names the first.',
    remedy: 'See the condition that is missing on the server and who reports it; the taint goes when it is there.',
    weight: 'waiting',
    actor: 'person',
    command: 'kubectl describe serverreadinessrule {name}',
  },
  NoServerSelected: {
    meaning: 'The rule is in force, but its selector matches no server at present.',
    remedy: 'Compare spec.serverSelector with the labels of the servers.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get servers --show-labels',
  },
  InvalidSelector: {
    meaning: 'spec.serverSelector is faulty, so the rule speaks about no server.',
    remedy: 'Delete the rule and create it anew with a correct selector: a selector cannot be changed.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl delete serverreadinessrule {name}',
  },
  RemovingTaints: {
    meaning: 'The rule is being deleted and its taints are being taken off the servers that the message names.',
    remedy: 'Nothing; if it stays so, see whether these servers can be written.',
    weight: 'working',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;
