import { diskFailed } from './device.ts';
import { insideDevice, type Method, type Work } from './work.ts';

/** From the Identify Controller data structure (NVM Express 1.3, 5.15). */
export interface NvmeAbilities {
  readonly sanitizeCrypto: boolean;
  readonly sanitizeBlock: boolean;
  readonly format: boolean;
  readonly formatCrypto: boolean;
  /** A format with secure erase applies to every namespace, whichever is named. */
  readonly formatsAll: boolean;
}

/** Parses the output of `nvme id-ctrl`. */
export function nvmeAbilitiesIn(output: string): NvmeAbilities {
  const field = (name: string): number => Number(new RegExp(`^${name}\\s*:\\s*(\\w+)`, 'm').exec(output)?.[1] ?? 0);
  const isSet = (value: number, bit: number): boolean => ((value >>> bit) & 1) === 1;
  const [capabilities, commands, format] = [field('sanicap'), field('oacs'), field('fna')];
  return {
    // SANICAP: bit 0 crypto erase, bit 1 block erase.
    sanitizeCrypto: isSet(capabilities, 0),
    sanitizeBlock: isSet(capabilities, 1),
    // OACS: bit 1 Format NVM.
    format: isSet(commands, 1),
    // FNA: bit 0 format applies to all namespaces, bit 1 secure erase does, bit 2 cryptographic erase is supported.
    formatCrypto: isSet(commands, 1) && isSet(format, 2),
    formatsAll: isSet(format, 0) || isSet(format, 1),
  };
}

export interface SanitizeStatus {
  readonly state: 'never' | 'succeeded' | 'running' | 'failed';
  /** Between 0 and 1; 1 when nothing is running. */
  readonly fraction: number;
  readonly sstat: string;
}

/** SSTAT, bits 2:0 of log page 81h (NVM Express 1.3 and 1.4, 5.14): 100b is success with No-Deallocate After Sanitize. */
const sanitizeStates: readonly SanitizeStatus['state'][] = ['never', 'succeeded', 'running', 'failed', 'succeeded'];

/** Parses the output of `nvme sanitize-log`; undefined for other text. */
export function sanitizeStatusIn(output: string): SanitizeStatus | undefined {
  const sstat = /\(SSTAT\)\s*:\s*(\w+)/.exec(output)?.[1];
  const progress = /\(SPROG\)\s*:\s*(\d+)/.exec(output)?.[1];
  const state = sanitizeStates[Number(sstat) & 0b111];
  if (sstat === undefined || progress === undefined || state === undefined) return undefined;
  // SPROG is a numerator over 10000h, and FFFFh if no sanitize is running.
  return { state, fraction: state === 'running' ? Number(progress) / 0x1_0000 : 1, sstat };
}

const abilities = async ({ run, path, signal }: Work): Promise<NvmeAbilities> =>
  nvmeAbilitiesIn(await run('nvme', ['id-ctrl', path], signal));

const pollIntervalMs = 2_000;

/** Sanitize applies to the whole subsystem, continues after a power loss, and blocks the media until it ends. */
function sanitize(action: { number: 2 | 4; name: string; isThere: (able: NvmeAbilities) => boolean }): Method {
  return {
    expects: 'NothingOfBefore',
    prepare: async (work) => {
      if (!action.isThere(await abilities(work))) return `the controller has no sanitize ${action.name}`;
      if (work.siblings.length > 0) return `it would erase ${work.siblings.join(' and ')} too`;
      // While a sanitize of an earlier attempt runs, the device accepts no other and no reads (1.3, 8.15).
      await sanitizeEnds(work);
      return undefined;
    },
    erase: async (work) => {
      // Sanitize (1.3, 5.24): SANACT 010b is block erase, 100b crypto erase. Unrestricted exit (AUSE) stays off: media whose
      // sanitize failed must not be usable again by any other command.
      await insideDevice(work, async () => {
        await work.run('nvme', ['sanitize', work.path, `--sanact=${action.number}`], work.signal);
        const { state, sstat } = await sanitizeEnds(work);
        if (state !== 'succeeded')
          throw diskFailed(`${work.disk.name}: sanitize ${action.name}: ${state}, SSTAT ${sstat}`);
      });
    },
  };
}

async function sanitizeEnds({ disk, path, run, clock, signal, reportProgress }: Work): Promise<SanitizeStatus> {
  for (;;) {
    const output = await run('nvme', ['sanitize-log', path], signal);
    const status = sanitizeStatusIn(output);
    if (status === undefined) throw diskFailed(`${disk.name}: the sanitize log is not understood: ${output.trim()}`);
    const isRunning = status.state === 'running';
    reportProgress({ continuesByItself: isRunning || undefined });
    if (!isRunning) return status;
    reportProgress({ erasedBytes: Math.floor(disk.sizeBytes * status.fraction) });
    await clock.sleep(pollIntervalMs, signal);
  }
}

/** Longer than any disk takes. The default timeout of the kernel is ten minutes. */
const formatTimeoutMs = 12 * 3_600_000;

/** Format NVM (1.3, 5.23): SES 001b erases user data, 010b the key. The LBA format is kept. */
function format(ses: 1 | 2, name: string, isThere: (able: NvmeAbilities) => boolean): Method {
  return {
    expects: 'NothingOfBefore',
    prepare: async (work) => {
      const able = await abilities(work);
      if (!isThere(able)) return `the controller has no format with ${name}`;
      if (able.formatsAll && work.siblings.length > 0) return `it would erase ${work.siblings.join(' and ')} too`;
      return undefined;
    },
    erase: (work) => {
      const { run, path, signal } = work;
      const parameters = ['format', path, `--ses=${ses}`, '--force', `--timeout=${formatTimeoutMs}`];
      return insideDevice(work, () => run('nvme', parameters, signal));
    },
  };
}

export const nvmeSanitizeCrypto = sanitize({ number: 4, name: 'crypto erase', isThere: (able) => able.sanitizeCrypto });
export const nvmeSanitizeBlock = sanitize({ number: 2, name: 'block erase', isThere: (able) => able.sanitizeBlock });
export const nvmeFormatCrypto = format(2, 'cryptographic erase', (able) => able.formatCrypto);
export const nvmeFormat = format(1, 'user data erase', (able) => able.format);
