import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Every reason a BMCSecret gives, as events: it has no status. */
export const bmcSecretReasons = {
  BMCSecretIncomplete: {
    meaning: 'The BMCSecret lacks its key username or password; whatever refers to it cannot log in.',
    remedy: 'Add the key. An immutable BMCSecret has to be made anew.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmcsecret {name}',
  },
  StringDataAmbiguous: {
    meaning: 'A key has different values in data and stringData; data counts, as in v0.7.0.',
    remedy: 'Remove the key from one of them.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmcsecret {name}',
  },
  StringDataConverted: {
    meaning: 'stringData was moved into data, where clear text is not seen at a glance.',
    remedy: 'Nothing; stringData may be written again at any time, and then replaces what came from it.',
    weight: 'ok',
    actor: 'operator',
  },
} as const satisfies ReasonCatalogue;

export type BmcSecretReason = keyof typeof bmcSecretReasons;
