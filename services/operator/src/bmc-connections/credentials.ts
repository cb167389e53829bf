import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';

/** The required keys of credentials. */
export const credentialKeys = ['username', 'password'] as const;

/** `data` wins over `stringData`, as in v0.7.0. */
export function secretValue(secret: BMCSecret, key: string): string | undefined {
  const encoded = secret.data?.[key];
  return encoded === undefined ? secret.stringData?.[key] : Buffer.from(encoded, 'base64').toString('utf8');
}

/** Changes whenever the BMCSecret does. */
export const versionOf = ({ metadata: { uid = '', resourceVersion = '' } }: BMCSecret): string =>
  `${uid}/${resourceVersion}`;

/** The first key without a value, if any. */
export const missingKeyOf = (secret: BMCSecret): (typeof credentialKeys)[number] | undefined =>
  credentialKeys.find((key) => (secretValue(secret, key) ?? '') === '');
