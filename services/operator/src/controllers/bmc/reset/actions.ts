import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { operationAnnotation } from '@metal/api/wire/contract.ts';
import { RedfishError } from '@metal/redfish/errors.ts';
import { findManager, resetManager } from '@metal/redfish/resources/managers.ts';
import { SshError } from '@metal/redfish/ssh/ssh.ts';
import { resetOverSsh } from '@metal/redfish/ssh/ssh-reset.ts';
import { addressOf, credentialsIn } from '../../../bmc-connections/connection.ts';
import { StaleDecision } from '../../../errors.ts';
import type { BmcReconcile } from '../lifecycle/facts.ts';
import type { ResetFailureReason, ResetOutcome } from '../../../bmc-connections/observed-bmc.ts';
import { bmcOperations, isFailureOfService } from './resets.ts';

const sshPort = 22;

/** An unsupported or needless operation is answered with a Warning event, and the annotation is removed. */
export async function dropOperation(reconcile: BmcReconcile): Promise<void> {
  const { operation } = reconcile.facts;
  if (operation === undefined) return;
  if (reconcile.facts.isDecommissioned)
    reconcile.warn('BMCDecommissioned', `Operation "${operation.value}" dropped because the BMC is decommissioned`);
  else if (operation.kind === 'unsupported')
    reconcile.warn(
      'UnsupportedOperation',
      `Unsupported operation annotation "${operation.value}"; a BMC knows ${bmcOperations.join(', ')}`,
    );
  else
    reconcile.warn(
      'ResetAlreadyRunning',
      `Operation "${operation.value}" dropped because the BMC is restarting already`,
    );
  await clearOperation(reconcile);
}

/** The request is recorded in the status, so that the annotation can be removed before the reset is sent. */
export async function acceptReset(reconcile: BmcReconcile): Promise<void> {
  if (reconcile.facts.operation !== undefined) await clearOperation(reconcile);
}

/** Guarded by the resource version of the decision: a newer request is not lost. */
async function clearOperation({ object, context }: BmcReconcile): Promise<void> {
  const { name, resourceVersion } = object.metadata;
  const patch = { metadata: { annotations: { [operationAnnotation]: null } } };
  await context.client.mergePatch(BMC, { name }, patch, resourceVersion === undefined ? {} : { resourceVersion });
}

/**
 * The status already marks the reset as sent. The outcome is kept in memory for the next decision; the last observation is dropped,
 * so that it does not count as a response after the reset.
 */
export async function sendReset(reconcile: BmcReconcile): Promise<void> {
  const { object, facts, context } = reconcile;
  const { name } = object.metadata;
  const record = object.status?.reset;
  if (record?.sentAt === undefined) throw new StaleDecision('the reset is not recorded as sent');
  const observed = context.bmcConnections.observedBmc(name, facts.connection);
  const what = record.method === 'SSH' ? await resetBySsh(reconcile) : await resetByRedfish(reconcile);
  observed.resetOutcome = { of: record.sentAt, ...what };
  observed.observation = undefined;
}

type Outcome = ResetOutcome extends infer Each ? (Each extends ResetOutcome ? Omit<Each, 'of'> : never) : never;

async function resetByRedfish({ object, facts, context, signal }: BmcReconcile): Promise<Outcome> {
  const { connection, blocker } = facts;
  if (connection === undefined) return { kind: 'noRedfish', message: blocker?.message ?? '' };
  try {
    const bmc = context.bmcConnections.getBmc(object.metadata.name, connection);
    const manager = await findManager(bmc, object.spec?.bmcUUID, { signal, priority: 'power' });
    if (manager === undefined) return failed('ResetRefused', 'BMC reset refused: it reports no manager to be reset');
    await resetManager(bmc, manager.uri, 'GracefulRestart', { signal });
    return { kind: 'sent' };
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (isFailureOfService(error)) return { kind: 'noRedfish', message: error.message };
    return failed('ResetRefused', `BMC reset refused: ${error.message}`);
  }
}

/** Reasons and messages are those of v0.7.0. */
async function resetBySsh(reconcile: BmcReconcile): Promise<Outcome> {
  const { object, context, signal } = reconcile;
  const { caches, config, clock, bmcConnections } = context;
  if (!bmcConnections.maySend(object.metadata.name)) throw new StaleDecision('another replica talks to the BMC');
  const { ip, blocker } = addressOf(object, caches);
  if (ip === undefined) return failed('ConnectionFailed', `Failed to get BMC address: ${blocker.message}`);
  const manufacturer = manufacturerOf(object, context);
  if (manufacturer === undefined) return failed('InternalServerError', 'BMC manufacturer not available');
  const credentials = credentialsIn(object.spec?.bmcSecretRef ?? { name: '' }, caches);
  if ('blocker' in credentials)
    return failed('AuthenticationFailed', `Failed to get credentials: ${credentials.blocker.message}`);
  try {
    const known = object.spec?.ssh?.hostKeyFingerprint ?? object.status?.sshHostKeyFingerprint;
    const { hostKeyFingerprint } = await resetOverSsh(manufacturer, {
      ...credentials,
      host: ip,
      port: shellPortOf(object),
      hostKeyFingerprint: known,
      deadlineMs: config.sshResetTimeoutMs,
      clock,
      signal,
    });
    bmcConnections.observedBmc(object.metadata.name, undefined).sshHostKey = hostKeyFingerprint;
    if (known === undefined) reportFirstHostKey(reconcile, hostKeyFingerprint);
    return { kind: 'sent' };
  } catch (error) {
    if (!(error instanceof SshError)) throw error;
    const reason = error.code === 'SshHostKeyMismatch' ? 'HostKeyMismatch' : 'InternalServerError';
    return failed(reason, `SSH reset failed: ${error.message}`);
  }
}

/** The password was sent to whoever answered: only a person can compare the key with the BMC. */
function reportFirstHostKey(reconcile: BmcReconcile, fingerprint: string): void {
  const reason = 'SSHHostKeyTrusted';
  const note = `The first SSH host key ${fingerprint} was trusted; compare it with the BMC, and set spec.ssh.hostKeyFingerprint`;
  reconcile.log.warn({ reason, fingerprint }, 'the first SSH host key of the BMC was trusted');
  reconcile.recordEvent({ type: 'Normal', reason, action: 'ResetBMC', note });
}

const failed = (reason: ResetFailureReason, message: string) => ({ kind: 'failed', reason, message }) as const;

function manufacturerOf({ metadata, status }: BMC, { caches }: BmcReconcile['context']): string | undefined {
  const [server] = caches.servers.by('bmc', metadata.name);
  return status?.manufacturer ?? server?.status?.manufacturer;
}

/** The shell is where the serial console is, when that is reached over SSH. */
function shellPortOf({ spec }: BMC): number {
  const { name, port } = spec?.consoleProtocol ?? {};
  return name === 'SSH' || name === 'SSHLenovo' ? (port ?? sshPort) : sshPort;
}
