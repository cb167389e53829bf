import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { DiskErasure, ErasureOrder } from '@metal/api/wire/erasure.ts';
import type { ProbeClock, RunProgram } from '../environment.ts';
import { temporaryPassword } from './ata.ts';
import { type Device, diskFailed } from './device.ts';
import type { DiskFacts } from './disk-facts.ts';
import { eraseDisk } from './erase-disk.ts';
import { allowedMethods } from './methods.ts';
import { testDisk } from '../../test/erase-disk.rows.ts';

const mebibyte = 1_048_576;
const secret = Buffer.from('the former owner\n'.repeat(61_681)).subarray(0, mebibyte);

/** A disk of 4 MiB, full of secrets. */
class MemoryDisk {
  readonly bytes = Buffer.concat([secret, secret, secret, secret]);
  isLocked = false;

  fill(value: number | 'random'): void {
    if (value === 'random') randomBytes(this.bytes.length).copy(this.bytes);
    else this.bytes.fill(value);
  }

  open = async (): Promise<Device> => ({
    write: async (data, offset) => {
      this.bytes.set(data, offset);
    },
    read: async (into, offset) => {
      if (this.isLocked) throw diskFailed(`sda: read at offset ${offset}: EIO`);
      into.set(this.bytes.subarray(offset, offset + into.length));
    },
    flush: async () => {},
    [Symbol.asyncDispose]: async () => {},
  });
}

const steppingClock = (): ProbeClock => {
  let now = Date.UTC(2026, 0, 1);
  return {
    now: () => now,
    sleep: async (delayMs, signal) => {
      signal?.throwIfAborted();
      now += delayMs;
    },
  };
};

interface Erased {
  record: Partial<DiskErasure>;
  calls: string[];
  history: Partial<DiskErasure>[];
}

interface Erasing {
  disk: MemoryDisk;
  mode: ErasureOrder['mode'];
  facts: Partial<DiskFacts>;
  run: RunProgram;
  siblings?: string[];
}

async function erase({ disk, mode, facts, run, siblings = [] }: Erasing): Promise<Erased> {
  const record: Partial<DiskErasure> = {};
  const history: Partial<DiskErasure>[] = [];
  const calls: string[] = [];
  const note = (change: Partial<DiskErasure>): void => {
    history.push({ ...change });
    Object.assign(record, change);
  };
  await eraseDisk({
    mode,
    seed: 'seed',
    record: note,
    work: {
      disk: { ...testDisk, sizeBytes: disk.bytes.length, ...facts },
      path: '/dev/sda',
      siblings,
      clock: steppingClock(),
      run: async (program, parameters, signal) => {
        calls.push([program, ...parameters].join(' '));
        return run(program, parameters, signal);
      },
      signal: new AbortController().signal,
      open: disk.open,
      reportProgress: note,
    },
  });
  return { record, calls, history };
}

const noPrograms: RunProgram = async (program) => {
  throw new Error(`${program} must not be started`);
};

interface NvmeBehaviour {
  sanicap?: number;
  oacs?: number;
  fna?: number;
  /** Effect of each command on the data. `nothing`: the disk reports success without erasing. */
  effects?: Partial<
    Record<'sanact=4' | 'sanact=2' | 'ses=2' | 'ses=1', 'random' | 'zeros' | 'nothing' | 'fails' | 'refused'>
  >;
  /** Number of polls for which another sanitize is running. */
  busyPolls?: number;
}

/** A controller behind nvme-cli. */
function nvmeController(disk: MemoryDisk, behaviour: NvmeBehaviour): RunProgram {
  const { sanicap = 0, oacs = 0, fna = 0, effects = {}, busyPolls = 0 } = behaviour;
  let pollsLeft = busyPolls;
  let ended = disk.isLocked ? '0x3' : '0x1';
  const happen = (parameters: readonly string[]): string | undefined => {
    const [, effect] = Object.entries(effects).find(([name]) => parameters.includes(`--${name}`)) ?? [];
    if (effect === 'refused')
      throw new Error('nvme: NVMe status: INVALID_OPCODE: The associated command opcode field is not valid(0x2001)');
    if (effect === 'random') disk.fill('random');
    if (effect === 'zeros') disk.fill(0);
    // The media can be used only after a successful sanitize.
    disk.isLocked = effect === 'fails';
    return effect;
  };
  const verbs: Record<string, (parameters: readonly string[]) => string> = {
    'id-ctrl': () => `oacs      : ${oacs}\nsanicap   : ${sanicap}\nfna       : ${fna}\n`,
    'sanitize-log': () => {
      pollsLeft -= 1;
      return pollsLeft >= 0
        ? 'Sanitize Progress (SPROG) :  32768\nSanitize Status (SSTAT) :  0x2\n'
        : `Sanitize Progress (SPROG) :  65535\nSanitize Status (SSTAT) :  ${ended}\n`;
    },
    sanitize: (parameters) => {
      if (pollsLeft > 0) throw new Error('nvme: Sanitize In Progress');
      ended = happen(parameters) === 'fails' ? '0x3' : '0x101';
      pollsLeft = 2;
      return '';
    },
    format: (parameters) => {
      happen(parameters);
      return 'Success formatting namespace:1\n';
    },
  };
  return async (program, parameters) => {
    assert.equal(program, 'nvme');
    return verbs[parameters[0] ?? '']?.(parameters) ?? assert.fail('a verb that nvme does not have');
  };
}

const nvme = { commands: 'nvme', name: 'nvme0n1', controller: 'nvme0' } as const;
const everything = { sanicap: 3, oacs: 2, fna: 4 };

test('a disk with crypto erase is sanitized, and its progress is reported', async () => {
  const disk = new MemoryDisk();
  const run = nvmeController(disk, { ...everything, effects: { 'sanact=4': 'random' } });
  const { record, calls, history } = await erase({ disk, mode: 'Purge', facts: nvme, run });
  assert.deepEqual(
    [record.result, record.method, record.verified, record.erasedBytes, record.message],
    ['Erased', 'NVMeSanitizeCrypto', true, disk.bytes.length, ''],
  );
  assert.ok((record.samples ?? 0) > 200, `only ${record.samples} places were read back`);
  assert.ok(history.some(({ erasedBytes }) => erasedBytes === disk.bytes.length / 2));
  assert.ok(calls.includes('nvme sanitize /dev/sda --sanact=4'));
  assert.ok(!calls.some((call) => call.includes('format')));
  assert.equal(record.startedTime, '2026-01-01T00:00:00.000Z');
  assert.equal(record.finishedTime, '2026-01-01T00:00:04.000Z');
});

const nvmeFalls: [string, NvmeBehaviour, DiskErasure['result'], DiskErasure['method'], RegExp][] = [
  [
    'block erase after a failed crypto erase, compared with the data from before both',
    { ...everything, effects: { 'sanact=4': 'fails', 'sanact=2': 'random' } },
    'Erased',
    'NVMeSanitizeBlock',
    /NVMeSanitizeCrypto: nvme0n1: sanitize crypto erase: failed, SSTAT 0x3/,
  ],
  [
    'block erase after a crypto erase that left the data',
    { ...everything, effects: { 'sanact=4': 'nothing', 'sanact=2': 'zeros' } },
    'Erased',
    'NVMeSanitizeBlock',
    /NVMeSanitizeCrypto: nvme0n1: read back at offset 0: found the previous data/,
  ],
  [
    'a cryptographic format without sanitize support',
    { oacs: 2, fna: 4, effects: { 'ses=2': 'random' } },
    'Erased',
    'NVMeFormatCrypto',
    /NVMeSanitizeCrypto: the controller has no sanitize crypto erase; NVMeSanitizeBlock: the controller has no/,
  ],
  [
    'a user data format after a rejected cryptographic format',
    { oacs: 2, fna: 4, effects: { 'ses=2': 'refused', 'ses=1': 'zeros' } },
    'Erased',
    'NVMeFormat',
    /NVMeFormatCrypto: nvme: NVMe status: INVALID_OPCODE/,
  ],
  [
    'no method without support for any',
    {},
    'Failed',
    undefined,
    /NVMeFormat: the controller has no format with user data erase/,
  ],
  [
    'no method if all commands are rejected',
    { oacs: 2, effects: { 'ses=1': 'refused' } },
    'Failed',
    'NVMeFormat',
    /NVMeFormat: nvme: NVMe status: INVALID_OPCODE/,
  ],
];
for (const [title, behaviour, result, method, message] of nvmeFalls) {
  test(`an NVMe disk is erased by ${title}`, async () => {
    const disk = new MemoryDisk();
    const { record } = await erase({ disk, mode: 'Purge', facts: nvme, run: nvmeController(disk, behaviour) });
    assert.deepEqual([record.result, record.method, record.verified ?? false], [result, method, result === 'Erased']);
    assert.match(String(record.message), message);
  });
}

const unreadable: [string, 'zeros' | 'random', DiskErasure['result']][] = [
  ['is erased if it is empty afterwards', 'zeros', 'Erased'],
  ['is not erased if it contains data afterwards', 'random', 'Failed'],
];
for (const [title, effect, result] of unreadable) {
  test(`a disk that is unreadable after a failed sanitize ${title}`, async () => {
    const disk = new MemoryDisk();
    disk.isLocked = true;
    const run = nvmeController(disk, { sanicap: 2, effects: { 'sanact=2': effect } });
    const { record } = await erase({ disk, mode: 'Purge', facts: nvme, run });
    assert.equal(record.result, result);
  });
}

test('a sanitize starts only after the one of an earlier attempt has ended', async () => {
  const disk = new MemoryDisk();
  const run = nvmeController(disk, { sanicap: 2, busyPolls: 3, effects: { 'sanact=2': 'zeros' } });
  const { record, calls } = await erase({ disk, mode: 'Purge', facts: nvme, run });
  assert.deepEqual([record.result, record.method], ['Erased', 'NVMeSanitizeBlock']);
  const begin = calls.indexOf('nvme sanitize /dev/sda --sanact=2');
  assert.equal(calls.slice(0, begin).filter((call) => call === 'nvme sanitize-log /dev/sda').length, 4);
});

test('no command for a whole controller is sent while it has a namespace that must not be erased', async () => {
  const disk = new MemoryDisk();
  const run = nvmeController(disk, { sanicap: 3, oacs: 2, fna: 6, effects: { 'ses=1': 'zeros' } });
  const { record, calls } = await erase({ disk, mode: 'Purge', facts: nvme, run, siblings: ['nvme0n2'] });
  assert.equal(record.result, 'Failed');
  assert.match(
    record.message ?? '',
    /NVMeSanitizeCrypto: it would erase nvme0n2 too; .*NVMeFormat: it would erase nvme0n2 too/,
  );
  assert.ok(calls.every((call) => call.startsWith('nvme id-ctrl')));
});

interface AtaBehaviour {
  enhanced?: boolean;
  frozen?: boolean;
  /** Initial password. The disk is locked then. */
  password?: string;
  erase?: (enhanced: boolean) => 'random' | 'zeros' | 'nothing' | 'fails';
  keepsPassword?: boolean;
}

/** A SATA disk behind hdparm. */
function ataDisk(disk: MemoryDisk, behaviour: AtaBehaviour): RunProgram & { password: () => string | undefined } {
  const { enhanced = true, frozen = false, erase: effectOf = () => 'zeros', keepsPassword = false } = behaviour;
  let password = behaviour.password;
  disk.isLocked = password !== undefined;
  const failWith = (verb: string): never => {
    throw new Error(`hdparm: ${verb}: Input/output error`);
  };
  const line = (text: string, holds: boolean): string => `${holds ? '\t' : '\tnot'}\t${text}\n`;
  const check = (given: string | undefined, verb: string): void => {
    if (frozen || given !== password) failWith(verb);
  };
  const verbs: Record<string, (given: string | undefined) => void> = {
    '--security-set-pass': (given) => {
      if (frozen) failWith('SECURITY_SET_PASS');
      password = given;
    },
    '--security-unlock': (given) => {
      check(given, 'SECURITY_UNLOCK');
      disk.isLocked = false;
    },
    '--security-disable': (given) => {
      check(given, 'SECURITY_DISABLE');
      if (keepsPassword) failWith('SECURITY_DISABLE');
      password = undefined;
    },
    '--security-erase': (given) => eraseUnit(given, false),
    '--security-erase-enhanced': (given) => eraseUnit(given, true),
  };
  const eraseUnit = (given: string | undefined, isEnhanced: boolean): void => {
    check(given, 'SECURITY_ERASE');
    const effect = effectOf(isEnhanced);
    if (effect === 'fails') failWith('SECURITY_ERASE');
    if (effect === 'zeros') disk.fill(0);
    if (effect === 'random') disk.fill('random');
    password = undefined;
  };
  const identify = (): string =>
    `Security: \n${line('supported', true)}${line('enabled', password !== undefined)}${line('locked', disk.isLocked)}` +
    `${line('frozen', frozen)}${line('supported: enhanced erase', enhanced)}` +
    '\t4min for SECURITY ERASE UNIT. 8min for ENHANCED SECURITY ERASE UNIT.\nChecksum: correct\n';
  const run: RunProgram = async (program, parameters) => {
    assert.equal(program, 'hdparm');
    if (parameters[0] === '-I') return identify();
    assert.deepEqual([parameters[0], parameters[1], parameters[4]], ['--user-master', 'u', '/dev/sda']);
    verbs[parameters[2] ?? '']?.(parameters[3]);
    return '';
  };
  return Object.assign(run, { password: (): string | undefined => password });
}

const ata = { commands: 'ata', vendor: 'ATA' } as const;
const withPassword = (verb: string): string => `hdparm --user-master u ${verb} ${temporaryPassword} /dev/sda`;

test('a SATA disk is erased with a temporary password, which is removed afterwards', async () => {
  const disk = new MemoryDisk();
  const run = ataDisk(disk, { erase: () => 'random' });
  const { record, calls, history } = await erase({ disk, mode: 'Purge', facts: ata, run });
  assert.deepEqual([record.result, record.method, record.message], ['Erased', 'ATASecureEraseEnhanced', '']);
  assert.ok(history.some(({ message }) => message === 'The disk estimates 8min.'));
  assert.deepEqual(
    calls.filter((call) => !call.includes('-I')),
    [withPassword('--security-set-pass'), withPassword('--security-erase-enhanced')],
  );
  assert.equal(run.password(), undefined);
});

test('a frozen SATA disk is reported as frozen and not changed', async () => {
  const disk = new MemoryDisk();
  const { record, calls } = await erase({ disk, mode: 'Purge', facts: ata, run: ataDisk(disk, { frozen: true }) });
  assert.equal(record.result, 'Failed');
  assert.match(
    record.message ?? '',
    /ATASecureEraseEnhanced: the firmware froze .*; ATASecureErase: the firmware froze /,
  );
  assert.ok(calls.every((call) => call === 'hdparm -I /dev/sda'));
  assert.ok(disk.bytes.subarray(0, mebibyte).equals(secret));
});

test('a SATA disk gets a normal erase after a failed enhanced erase, with the password removed in between', async () => {
  const disk = new MemoryDisk();
  const run = ataDisk(disk, { erase: (enhanced) => (enhanced ? 'fails' : 'zeros') });
  const { record, calls } = await erase({ disk, mode: 'Purge', facts: ata, run });
  assert.deepEqual([record.result, record.method], ['Erased', 'ATASecureErase']);
  assert.match(record.message ?? '', /ATASecureEraseEnhanced: hdparm: SECURITY_ERASE: Input\/output error/);
  assert.deepEqual(
    calls.filter((call) => !call.includes('-I')).map((call) => call.split(' ')[3]),
    [
      '--security-set-pass',
      '--security-erase-enhanced',
      '--security-disable',
      '--security-set-pass',
      '--security-erase',
    ],
  );
  assert.equal(run.password(), undefined);
});

test('a SATA disk that reports success without erasing has failed', async () => {
  const disk = new MemoryDisk();
  const run = ataDisk(disk, { erase: () => 'nothing' });
  const { record } = await erase({ disk, mode: 'Purge', facts: ata, run });
  assert.deepEqual([record.result, record.verified ?? false], ['Failed', false]);
  assert.match(record.message ?? '', /found the previous data; ATASecureErase: sda: .*expected zeros or ones/);
});

test('the message of a SATA disk that keeps the temporary password contains it', async () => {
  const disk = new MemoryDisk();
  const run = ataDisk(disk, { erase: () => 'fails', keepsPassword: true });
  const { record } = await erase({ disk, mode: 'Purge', facts: ata, run });
  assert.equal(record.result, 'Failed');
  assert.match(record.message ?? '', /SECURITY_ERASE: Input\/output error; it keeps the password "metalprobe-erase"/);
});

test('a SATA disk that is locked after an interrupted attempt is unlocked and erased', async () => {
  const disk = new MemoryDisk();
  const run = ataDisk(disk, { password: temporaryPassword });
  const { record, calls } = await erase({ disk, mode: 'Purge', facts: ata, run });
  assert.deepEqual([record.result, record.message], ['Erased', '']);
  assert.ok(!calls.includes(withPassword('--security-set-pass')));
  assert.deepEqual([run.password(), disk.isLocked], [undefined, false]);
});

test('a SATA disk with an unknown password is not changed', async () => {
  const disk = new MemoryDisk();
  const run = ataDisk(disk, { password: 'of the former owner' });
  const { record } = await erase({ disk, mode: 'Purge', facts: ata, run });
  assert.match(record.message ?? '', /ATASecureErase: the disk is locked with an unknown password/);
  assert.equal(run.password(), 'of the former owner');
});

test('a disk without erase commands is not purged and gets no weaker method', async () => {
  const disk = new MemoryDisk();
  const { record, calls } = await erase({ disk, mode: 'Purge', facts: {}, run: noPrograms });
  assert.equal(record.result, 'Failed');
  assert.match(record.message ?? '', /sda: Purge requires NVMe or ATA commands.*; use mode Clear to overwrite it/);
  assert.equal(calls.length, 0);
  assert.ok(disk.bytes.subarray(0, mebibyte).equals(secret));
});

test('a disk with a Write Zeroes command is cleared with it, in steps', async () => {
  const disk = new MemoryDisk();
  const run: RunProgram = async () => {
    disk.fill(0);
    return '';
  };
  const { record, calls } = await erase({ disk, mode: 'Clear', facts: { writesZeroes: true }, run });
  assert.deepEqual([record.result, record.method], ['Erased', 'Discard']);
  assert.deepEqual(calls, [`blkdiscard -z -o 0 -l ${disk.bytes.length} /dev/sda`]);
});

const discardsThatFail: [string, RunProgram, RegExp][] = [
  [
    'does not support -z',
    async () => Promise.reject(new Error("blkdiscard: invalid option -- 'z'")),
    /Discard: blkdiscard: invalid option/,
  ],
  ['leaves the data', async () => '', /Discard: sda: read back at offset 0: expected zeros/],
];
for (const [title, run, message] of discardsThatFail) {
  test(`a disk is overwritten when blkdiscard ${title}`, async () => {
    const disk = new MemoryDisk();
    const { record } = await erase({ disk, mode: 'Clear', facts: { writesZeroes: true }, run });
    assert.deepEqual([record.result, record.method], ['Erased', 'Overwrite']);
    assert.match(String(record.message), message);
    assert.ok(disk.bytes.every((byte) => byte === 0));
  });
}

test('no mode allows a method of a weaker mode', () => {
  const weak = ['Discard', 'Overwrite', 'Metadata'];
  assert.ok(Object.values(allowedMethods.Purge).every((names) => !names.some((name) => weak.includes(name))));
  assert.ok(Object.values(allowedMethods.Clear).every((names) => !names.includes('Metadata')));
});
