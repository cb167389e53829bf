import {
  oneOf,
  optionOf,
  type OptionTexts,
  parseOptions,
  port,
  type Reject,
  type ValuesOf,
} from '@metal/api/common/options.ts';

/** Keys that the metadata service itself sets for each server. */
const reservedKeys = new Set(['server-name', 'user-data']);

const staticPairs = optionOf('pairs', (lines, reject) => {
  const pairs = lines.split('\n').filter((line) => line !== '');
  return Object.fromEntries(pairs.map((pair) => staticPairOf(pair, reject)));
});

export const metadataOptionTable = {
  port: port('metadata-port', '10002', 'Port of the metadata service; 0 takes a free one'),
  auth: oneOf(['address', 'token'])(
    'metadata-auth',
    'address',
    'address: a machine is identified by its address or by the token of its boot; token: by its token only',
  ),
  staticMetadata: staticPairs(
    'static-metadata',
    '',
    'key=value in the metadata of every machine; may be given several times',
  ),
};

export type MetadataConfig = ValuesOf<typeof metadataOptionTable>;

/** @throws ConfigError */
export const readMetadataConfig = (texts: OptionTexts): MetadataConfig => parseOptions(metadataOptionTable, texts);

function staticPairOf(pair: string, reject: Reject): [key: string, value: string] {
  const [, key = '', value = ''] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
  if (key === '') return reject(`"${pair}" is no pair; expected key=value`);
  return reservedKeys.has(key) ? reject(`"${key}" is given by the server itself; choose another key`) : [key, value];
}
