import type { Bmc } from '../http/bmc.ts';
import type { Password } from '../http/password.ts';

/** Texts that no message may contain. */
export type Secrets = readonly Password[];

/** Without the secrets, and without user and password of a URL: a BMC may repeat in its messages what it was sent. */
export function withoutSecrets(text: string, secrets: Secrets = []): string {
  const withoutUsers = text.replaceAll(/\/\/[^/\s]*@/g, '//***@');
  return secrets.reduce((left, secret) => {
    const revealed = secret.reveal();
    return revealed === '' ? left : left.replaceAll(revealed, '***').replaceAll(encodeURIComponent(revealed), '***');
  }, withoutUsers);
}

const sent = new WeakMap<Bmc, Password[]>();
const maxSent = 8;

/** A password that was sent to the BMC, whose later messages may repeat it. */
export function rememberSecret(bmc: Bmc, password: Password): void {
  sent.set(bmc, [...secretsOf(bmc), password].slice(-maxSent));
}

/** The last passwords that were sent to the BMC with updates. */
export const secretsOf = (bmc: Bmc): Secrets => sent.get(bmc) ?? [];
