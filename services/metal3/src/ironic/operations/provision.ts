import * as z from 'zod';
import { imageChecksum } from '../../image/image-checksum.ts';
import type { ProvisioningData } from '../../provisioner/provisioner.ts';
import { done, failed, type StepResult } from '../../provisioner/step-result.ts';
import { configDriveOf } from '../config/config-drive-of.ts';
import type { IronicPass } from '../ironic-pass.ts';
import { deploymentKind, deploymentPatch, isSameImage } from './deployment-patch.ts';
import { failure, reasonOf } from './last-error.ts';
import { recoverFromCleanFailed } from './recover-from-clean-failed.ts';

/** Priority of the step of a custom deployment: after those that prepare the ramdisk. */
const customStepPriority = 80;

/** Deploys an image to an available node; a manageable one is cleaned first, if cleaning is enabled. */
export async function provision(pass: IronicPass, data: ProvisioningData): Promise<StepResult> {
  const problem = imageProblem(data);
  if (problem !== undefined) return failed(problem);
  const { session } = pass;
  const node = await session.node();
  switch (node.provision_state) {
    case 'available':
      return begin(pass, data);
    case 'deploy failed':
      return isSameImage(node, data) ? failedDeployment(await reasonOf(session, node), data) : begin(pass, data);
    case 'manageable':
      return session.beginState('provide');
    case 'clean failed':
      return data.restartsAfterFailure ? recoverFromCleanFailed(session) : failure(session, node);
    case 'wait call-back':
      return data.isForced ? session.beginState('deleted') : session.delays.long();
    case 'active':
      return done;
    default:
      return session.delays.long();
  }
}

function imageProblem({ image }: ProvisioningData): string | undefined {
  if (image === undefined || image.url === '') return undefined;
  const checksum = imageChecksum(image);
  return checksum.kind === 'invalid' ? checksum.problem : undefined;
}

function failedDeployment(reason: string, { image }: ProvisioningData): StepResult {
  const checksum = image?.checksum ?? '';
  const what = image === undefined ? '' : `${image.url}${checksum === '' ? '' : ` with checksum ${checksum}`}: `;
  return failed(`${what}${reason}`);
}

async function begin(pass: IronicPass, data: ProvisioningData): Promise<StepResult> {
  const { session, access } = pass;
  const patch = await deploymentPatch(pass, await session.node(), data);
  await session.patch(patch, patch.flatMap(secretIn));
  const problem = await validationProblem(pass);
  if (problem !== undefined) return failed(problem);
  const { customDeploy } = data;
  return session.beginState('active', {
    ...(deploymentKind(data) === 'liveIso' ? {} : { configdrive: await configDriveOf(access) }),
    ...(customDeploy === undefined
      ? {}
      : { deploy_steps: [{ interface: 'deploy', step: customDeploy, args: {}, priority: customStepPriority }] }),
  });
}

const secretIn = (operation: { readonly path: string; readonly value?: unknown }): string[] =>
  operation.path.endsWith('/image_pull_secret') && typeof operation.value === 'string' ? [operation.value] : [];

const part = z.object({ result: z.boolean().nullish(), reason: z.string().nullish() }).nullish();
const validation = z.object({ boot: part, deploy: part });

/** Why Ironic cannot deploy the node as it is described. Other interfaces than these two do not matter for it. */
async function validationProblem({ session }: IronicPass): Promise<string | undefined> {
  const { uuid } = await session.node();
  const { boot, deploy } = await session.api.read(validation, { method: 'GET', path: `nodes/${uuid}/validate` });
  const reasons = [boot, deploy].flatMap((found) => (found?.result === false ? [found.reason ?? 'no reason'] : []));
  return reasons.length === 0 ? undefined : `Ironic cannot deploy the host: ${reasons.join('; ')}`;
}
