import type { ErasureMethod, ErasureOrder } from '@metal/api/wire/erasure.ts';
import { ataSecureErase, ataSecureEraseEnhanced } from './ata.ts';
import type { DiskFacts } from './disk-facts.ts';
import { nvmeFormat, nvmeFormatCrypto, nvmeSanitizeBlock, nvmeSanitizeCrypto } from './nvme.ts';
import { discard, metadata, overwrite } from './overwrite.ts';
import type { Method } from './work.ts';

export const methods: Readonly<Record<ErasureMethod, Method>> = {
  NVMeSanitizeCrypto: nvmeSanitizeCrypto,
  NVMeSanitizeBlock: nvmeSanitizeBlock,
  NVMeFormatCrypto: nvmeFormatCrypto,
  NVMeFormat: nvmeFormat,
  ATASecureEraseEnhanced: ataSecureEraseEnhanced,
  ATASecureErase: ataSecureErase,
  Discard: discard,
  Overwrite: overwrite,
  Metadata: metadata,
};

type Allowed = Readonly<Record<DiskFacts['commands'], readonly ErasureMethod[]>>;

const clear: readonly ErasureMethod[] = ['Discard', 'Overwrite'];

/** Methods by mode and command set, in order of preference. A mode never falls back to a weaker one. */
export const allowedMethods: Readonly<Record<ErasureOrder['mode'], Allowed>> = {
  Purge: {
    nvme: ['NVMeSanitizeCrypto', 'NVMeSanitizeBlock', 'NVMeFormatCrypto', 'NVMeFormat'],
    ata: ['ATASecureEraseEnhanced', 'ATASecureErase'],
    none: [],
  },
  Clear: { nvme: clear, ata: clear, none: clear },
  Metadata: { nvme: ['Metadata'], ata: ['Metadata'], none: ['Metadata'] },
  None: { nvme: [], ata: [], none: [] },
};
