import { hasConfigDrive } from '@metal/api/common/disk-image.ts';
import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { deploymentAnnotation, deploymentPreparedAnnotation } from '@metal/api/wire/contract.ts';
import { type DeploymentOrder, deploymentOrderFile } from '@metal/api/wire/deployment.ts';
import { isPrepared } from '@metal/api/wire/prepared-boot.ts';
import { fieldManagerOf } from '@metal/kube/client/field-managers.ts';
import { StaleDecision } from '../../../errors.ts';
import { condition } from '../../ready-condition.ts';
import type { DeploymentReason } from '../../deployment-reasons.ts';
import { clearBoot } from '../boot/actions.ts';
import { prepareBoot } from '../boot/internal-boot.ts';
import type { ServerReconcile } from '../machine.ts';
import type { DeploymentFacts } from './facts.ts';
import { resultOf } from './result.ts';

type Deployment = NonNullable<NonNullable<ServerBootConfiguration['status']>['deployment']>;

const fieldManager = fieldManagerOf('deployment');
/** An image of a terabyte over a slow network takes hours. The token ends earlier, when its boot configuration is deleted. */
const tokenValidMs = 2 * 24 * 60 * 60_000;

function deploymentIn({ facts }: ServerReconcile): DeploymentFacts {
  if (facts.deployment === undefined) throw new StaleDecision('the claim has no disk image any more');
  return facts.deployment;
}

/**
 * Prepares the boot of the agent, with the order in its ignition. That the deployment begins is recorded first: from then on a
 * change of the image needs a request to reprovision.
 */
export async function prepareDeploymentBoot(reconcile: ServerReconcile): Promise<void> {
  const deployment = deploymentIn(reconcile);
  const { image, target, spec, uid } = deployment;
  if (image === undefined || target.kind === 'none') throw new StaleDecision('image or disk of the claim changed');
  const { serial, wwid, model, sizeBytes } = target.disk;
  await record(
    reconcile,
    deployment,
    { state: 'Running', step: 'Preparing' },
    'Deploying',
    'the image is being written',
  );
  const order: DeploymentOrder = {
    deployment: uid,
    disk: { serial, wwid, model, sizeBytes },
    image: { encoding: image.encoding, sizeBytes: image.sizeBytes, sha256: image.sha256 },
    configDrive: hasConfigDrive(spec),
  };
  await prepareBoot(reconcile, {
    annotations: {
      [deploymentAnnotation]: uid,
      [deploymentPreparedAnnotation]: new Date(reconcile.context.clock.now()).toISOString(),
    },
    tokenValidMs,
    files: [{ path: deploymentOrderFile, text: JSON.stringify(order) }],
  });
}

/** The machine is off. The result is recorded before the boot of the agent is deleted: a crash in between repeats nothing. */
export async function recordDeployment(reconcile: ServerReconcile): Promise<void> {
  const deployment = deploymentIn(reconcile);
  const result = resultOf(deployment);
  if (result === undefined) throw new StaleDecision('the deployment goes on');
  const { message } = result;
  if (result.state === 'Succeeded') {
    const text = `the image is on its disk${message === '' ? '' : `; ${message}`}`;
    await record(reconcile, deployment, { state: 'Succeeded', step: 'Done', message }, 'Deployed', text);
  } else {
    await record(reconcile, deployment, { state: 'Failed', reason: result.reason, message }, result.reason, message);
    reconcile.warn('DeploymentFailed', `${result.reason}: ${message}`);
  }
  await clearBoot(reconcile);
}

/** Guarded by the resource version of the boot configuration that was read from the API server. */
async function record(
  { object, context, signal }: ServerReconcile,
  { uid, image, target, report }: DeploymentFacts,
  result: Pick<Deployment, 'state' | 'step' | 'reason' | 'message'>,
  reason: DeploymentReason,
  message: string,
): Promise<void> {
  const { client, clock } = context;
  const claim = object.spec.serverClaimRef;
  if (claim === undefined) throw new StaleDecision('the claim let go of the server');
  const { namespace, name } = claim;
  const boot = await client.get(ServerBootConfiguration, { namespace, name }, { signal });
  if (boot.metadata.uid !== uid || boot.status?.deployment?.state === 'Succeeded')
    throw new StaleDecision('the boot configuration of the claim changed');
  const isStart = result.state === 'Running';
  if (isStart && (!isPrepared(boot) || boot.status?.diskImage?.sha256 !== image?.sha256))
    throw new StaleDecision('the disk image of the claim changed');
  const disk = target.kind === 'none' ? {} : { serial: target.disk.serial, wwid: target.disk.wwid };
  const deployment: Deployment = {
    ...result,
    disk: { ...disk, ...report?.disk },
    ...(image === undefined ? {} : { url: image.url, sha256: image.sha256, sizeBytes: image.sizeBytes }),
    writtenBytes: report?.writtenBytes ?? 0,
    observedGeneration: boot.metadata.generation,
    time: new Date(clock.now()).toISOString(),
  };
  const status = result.state === 'Succeeded' ? 'True' : 'False';
  const deployed = condition(boot, 'Deployed', status, { reason, message });
  const lastTransitionTime = transitionOf(boot, status) ?? deployment.time;
  await client.apply(
    ServerBootConfiguration,
    {
      metadata: { namespace, name, resourceVersion: boot.metadata.resourceVersion },
      status: { deployment, conditions: [{ ...deployed, lastTransitionTime }] },
    },
    { fieldManager, subresource: 'status', force: true },
  );
}

const transitionOf = ({ status }: ServerBootConfiguration, now: string): string | undefined =>
  status?.conditions?.find((one) => one.type === 'Deployed' && one.status === now)?.lastTransitionTime;
