import { diskFailed, reasonOf } from './device.ts';
import { insideDevice, type Method, type Work } from './work.ts';

/**
 * Password of a disk during a secure erase. It is public, so that a disk that lost power during the erase can be unlocked by
 * hand. The next attempt unlocks it automatically.
 */
export const temporaryPassword = 'metalprobe-erase';

/** The security feature set of a disk (ATA8-ACS, IDENTIFY DEVICE word 128). */
export interface AtaSecurity {
  readonly supported: boolean;
  readonly enabled: boolean;
  readonly locked: boolean;
  readonly frozen: boolean;
  readonly enhanced: boolean;
  /** Erase time that the disk reports (words 89 and 90), as printed by hdparm; '' if not reported. */
  readonly normalTime: string;
  readonly enhancedTime: string;
}

/** Parses the output of `hdparm -I`. A disk without the Security section supports none of it. */
export function ataSecurityIn(output: string): AtaSecurity {
  const section = /^Security:[^\n]*\n((?:[ \t]+[^\n]*\n?)*)/m.exec(output)?.[1] ?? '';
  const hasLine = (pattern: string): boolean => new RegExp(`^\\s*${pattern}\\s*$`, 'm').test(section);
  return {
    supported: hasLine('supported'),
    enabled: hasLine('enabled'),
    locked: hasLine('locked'),
    frozen: hasLine('frozen'),
    enhanced: hasLine('supported: enhanced erase'),
    normalTime: /(\S+min) for SECURITY ERASE UNIT/.exec(section)?.[1] ?? '',
    enhancedTime: /(\S+min) for ENHANCED SECURITY ERASE UNIT/.exec(section)?.[1] ?? '',
  };
}

const security = async ({ run, path, signal }: Work): Promise<AtaSecurity> =>
  ataSecurityIn(await run('hdparm', ['-I', path], signal));

const withPassword = async ({ run, path, signal }: Work, verb: string): Promise<void> => {
  await run('hdparm', ['--user-master', 'u', verb, temporaryPassword, path], signal);
};

async function prepare(work: Work, enhanced: boolean): Promise<string | undefined> {
  const state = await security(work);
  if (!state.supported) return 'the disk has no security feature set';
  if (enhanced && !state.enhanced) return 'the disk has no enhanced erase';
  // SECURITY FREEZE LOCK, which firmware sends before booting, lasts until the disk loses power.
  if (state.frozen) return 'the firmware froze the security settings of the disk; replug the disk to unfreeze them';
  if (!state.locked) return undefined;
  await withPassword(work, '--security-unlock').catch(() => work.signal.throwIfAborted());
  return (await security(work)).locked ? 'the disk is locked with an unknown password' : undefined;
}

/**
 * SECURITY ERASE UNIT (ATA8-ACS, 7.43) requires a password and removes it on success:
 *
 *   no password --set-pass--> temporary --erase--> no password
 *                                 |  erase fails
 *                                 '--disable-----> no password
 *
 * Power loss while the password is set leaves a disk that is locked at the next start. If the agent is stopped before it sends
 * the erase, it removes the password.
 */
async function eraseUnit(work: Work, enhanced: boolean): Promise<void> {
  const { disk, signal, reportProgress } = work;
  const before = await security(work);
  const time = enhanced ? before.enhancedTime : before.normalTime;
  if (time !== '') reportProgress({ message: `The disk estimates ${time}.` });
  let isSent = false;
  let problem: unknown;
  try {
    if (!before.enabled) await withPassword(work, '--security-set-pass');
    await insideDevice(work, () => {
      isSent = true;
      return withPassword(work, enhanced ? '--security-erase-enhanced' : '--security-erase');
    });
  } catch (error) {
    if (signal.aborted && !isSent) await takePasswordBack(work);
    signal.throwIfAborted();
    problem = error;
  }
  // Some bridges report success of a command that never reached the disk, so the state is read from the disk.
  const forgotten = !(await security(work)).enabled || (await removePassword(work));
  if (!forgotten) throw diskFailed(`${disk.name}: ${reasonOf(problem)}; it keeps the password "${temporaryPassword}"`);
  if (problem !== undefined) throw problem;
}

const takeBackWithinMs = 10_000;

/** Best effort: the next attempt reads the state of the disk again. */
async function takePasswordBack(work: Work): Promise<void> {
  const signal = AbortSignal.timeout(takeBackWithinMs);
  await withPassword({ ...work, signal }, '--security-disable').catch(() => undefined);
}

async function removePassword(work: Work): Promise<boolean> {
  await withPassword(work, '--security-disable').catch(() => work.signal.throwIfAborted());
  return !(await security(work)).enabled;
}

/** An enhanced erase leaves a vendor-specific pattern; a normal one leaves zeros (ATA8-ACS, 7.43), on some SSDs ones. */
export const ataSecureEraseEnhanced: Method = {
  expects: 'NothingOfBefore',
  prepare: (work) => prepare(work, true),
  erase: (work) => eraseUnit(work, true),
};

export const ataSecureErase: Method = {
  expects: 'ZerosOrOnes',
  prepare: (work) => prepare(work, false),
  erase: (work) => eraseUnit(work, false),
};
