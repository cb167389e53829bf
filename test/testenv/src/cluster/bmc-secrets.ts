import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { ObjectsOfKind } from './objects-of-kind.ts';

export class BmcSecrets extends ObjectsOfKind<BMCSecret> {
  /** Corrects credentials, as an administrator would. */
  async setTexts(name: string, texts: Record<string, string>): Promise<void> {
    const entries = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
    await this.patch(name, { data: Object.fromEntries(entries) });
  }

  /** Annotates the BMCSecret, as an administrator does after a correction on the BMC; each value is another change. */
  async annotate(name: string, value: string): Promise<void> {
    await this.patch(name, { metadata: { annotations: { 'tried-again': value } } });
  }
}
