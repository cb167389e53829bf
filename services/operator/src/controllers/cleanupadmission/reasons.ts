import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

export const admissionReasons = {
  CleanupMayStart: {
    meaning: 'The limits let the server in; the replica that works on it begins.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
  CleanupMustWait: {
    meaning: 'As many servers are being cleaned up, or started for it, as the limits allow.',
    remedy: 'Nothing; the condition Ready of the server tells its place in the queue.',
    weight: 'waiting',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;
