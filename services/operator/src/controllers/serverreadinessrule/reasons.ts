import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

export const ruleReasons = {
  AllServersReady: {
    meaning: 'Every server that the rule selects satisfies it.',
    remedy: 'Nothing.',
  },
  ServersNotReady: {
    meaning: 'The rule is in force and keeps some servers from being claimed; the message names the first.',
    remedy: 'See the condition that is missing on the server and who reports it; the taint goes when it is there.',
  },
  NoServerSelected: {
    meaning: 'The rule is in force, but its selector matches no server at present.',
    remedy: 'Compare spec.serverSelector with the labels of the servers.',
  },
  InvalidSelector: {
    meaning: 'spec.serverSelector is faulty, so the rule speaks about no server.',
    remedy: 'Delete the rule and create it anew with a correct selector: a selector cannot be changed.',
  },
  RemovingTaints: {
    meaning: 'The rule is being deleted and its taints are being taken off the servers that the message names.',
    remedy: 'Nothing; if it stays so, see whether these servers can be written.',
  },
} as const satisfies ReasonCatalogue;
