import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

export const taintsReasons = {
  ReadinessChanged: {
    meaning: 'A readiness rule began or ceased to hold the server back, and its taint follows.',
    remedy: 'Nothing when that is expected; else see the condition that the message names and who reports it.',
    weight: 'working',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;
