import type { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import type { OperatorConfig } from '../options.ts';

/** On a BMCSecret: the keys of data that came from stringData, separated by commas. */
export const convertedKeysAnnotation = 'metal.ironcore.dev/converted-keys';

/** The plan to move stringData into data, key by key. */
export interface Conversion {
  /** Values for data, in base64. */
  readonly data: Readonly<Record<string, string>>;
  /** Keys that leave stringData. */
  readonly keys: readonly string[];
  /** Keys whose values in data and stringData differ without a rule for which one wins. */
  readonly ambiguous: readonly string[];
  /** All keys of data that came from stringData, now or earlier. */
  readonly converted: readonly string[];
}

/** The operator is going to move keys of this BMCSecret. */
export const isConvertible = (
  secret: BMCSecret,
  { convertsBmcSecrets }: Pick<OperatorConfig, 'convertsBmcSecrets'>,
): boolean => convertsBmcSecrets && secret.immutable !== true && planConversion(secret).keys.length > 0;

/**
 * A key that was converted once and is in stringData again was written again, as by `kubectl apply` of a manifest: the new value
 * wins. A key that was in data first keeps its value, as in v0.7.0: a working password is never replaced by a guess.
 */
export function planConversion(secret: BMCSecret): Conversion {
  const earlier = (secret.metadata.annotations?.[convertedKeysAnnotation] ?? '').split(',').filter((key) => key !== '');
  const entries = Object.entries(secret.stringData ?? {}).map(([key, text]) => {
    const value = Buffer.from(text, 'utf8').toString('base64');
    const present = secret.data?.[key];
    return { key, value, isClear: present === undefined || present === value || earlier.includes(key) };
  });
  const moved = entries.filter(({ isClear }) => isClear);
  const keys = moved.map(({ key }) => key);
  return {
    data: Object.fromEntries(moved.map(({ key, value }) => [key, value])),
    keys,
    ambiguous: entries.filter(({ isClear }) => !isClear).map(({ key }) => key),
    converted: [...new Set([...earlier, ...keys])].toSorted(),
  };
}
