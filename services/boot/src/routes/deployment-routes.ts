import { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { deploymentFiles } from '@metal/api/wire/deployment.ts';
import { deploymentOf } from '@metal/api/wire/internal-boot.ts';
import { HttpError } from '@metal/http/http-error.ts';
import type { FastifyInstance } from 'fastify';
import { readConfigDrive } from '../config-drive/config-drive.ts';
import { getOrHead } from './delivery.ts';
import type { SendArtefact } from './file-routes.ts';
import type { RoutesOptions } from './routes-options.ts';

type ByToken = { Params: { token: string } };

/**
 *   GET /boot/<token>/disk-image    ───► the image that a deployment writes, as `encoding` of its order says
 *   GET /boot/<token>/config-drive  ───► JSON: the files of its config drive
 *
 * The token is that of the boot of the agent; the image is that of the claim which holds the server.
 */
export function serveDeployments(http: FastifyInstance, options: RoutesOptions, send: SendArtefact): void {
  const { client, clients, diskImages } = options;
  http.route<ByToken>({
    method: getOrHead,
    url: `/boot/:token/${deploymentFiles.diskImage}`,
    handler: async (request, reply) => {
      const { agent, deployed } = await deployedBoot(request.params.token, options);
      clients.admit(agent, 'system', request.ip);
      const { spec, status } = deployed;
      if (spec.diskImage === undefined || status?.diskImage === undefined || diskImages === undefined)
        throw new HttpError(404, 'this boot has no prepared disk image');
      return send(request, reply, diskImages.artefactOf(spec.diskImage, status.diskImage));
    },
  });
  http.route<ByToken>({
    method: 'GET',
    url: `/boot/:token/${deploymentFiles.configDrive}`,
    handler: async (request, reply) => {
      const { agent, deployed } = await deployedBoot(request.params.token, options);
      clients.admit(agent, 'system', request.ip);
      const drive = await readConfigDrive(deployed, client);
      if (drive === undefined) throw new HttpError(404, 'this boot has no config drive');
      return reply.header('cache-control', 'no-store').type('application/json').send(JSON.stringify(drive.reveal()));
    },
  });
}

/**
 * The boot of the agent, and the boot configuration whose image it writes. That one is found by the claim reference of the
 * Server, which tenants cannot write, and not by a reference in a boot configuration.
 */
async function deployedBoot(token: string, { machines, client }: RoutesOptions) {
  const { server, boot: agent } = await machines.deploymentByToken(token);
  const claim = server.spec.serverClaimRef;
  const ref = claim && { namespace: claim.namespace, name: claim.name };
  const deployed = ref && (await client.find(ServerBootConfiguration, ref));
  const isOrdered = deployed !== undefined && deployed.metadata.uid === deploymentOf(agent);
  if (!isOrdered || deployed.metadata.deletionTimestamp !== undefined)
    throw new HttpError(403, 'the token is not valid now: the claim that ordered the deployment is gone');
  return { agent, deployed };
}
