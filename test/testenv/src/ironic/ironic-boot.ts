import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import type { IronicOptions } from '@metal/metal3/ironic/options.ts';
import { isIronicAgent } from '@metal/simulator/boot.ts';
import { createFleetAuthority, type FleetAuthority } from '@metal/simulator/certificates.ts';
import type { Node } from '@metal/simulator/fleet.ts';
import { IronicAgent } from './ironic-agent.ts';
import { AgentWork } from './ironic-agent-work.ts';
import type { IronicServiceOptions } from './ironic.ts';
import { simulated } from '../fleet/simulated.ts';

/** The provisioning network of an Ironic: its files, which machines boot over the network, and the agents in them. */
export interface IronicBoot extends AsyncDisposable {
  /** For the machines: `bootUrl` of a fleet. */
  readonly url: string;
  /** For the Ironic. */
  readonly configuration: NonNullable<IronicServiceOptions['configuration']>;
  /** For the back end. */
  readonly ramdisk: IronicOptions['ramdisk'];
  /** Connects a machine: it runs an agent while it runs the ramdisk of Ironic. */
  connect(node: Node): AgentWork;
}

export async function startIronicBoot(): Promise<IronicBoot> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-ironic-boot-'));
  const root = join(directory, 'http');
  await mkdir(root);
  const macAddresses = new Map<string, readonly string[]>();
  const server = createServer(({ url = '/' }, response) => {
    fileOf(url, root, macAddresses).then(
      // Ironic asks for the length of the ramdisk.
      (content) => response.writeHead(200, { 'content-length': content.length }).end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  const url = `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`;
  const authority = await createFleetAuthority();
  const stack = new AsyncDisposableStack();
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  stack.defer(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  return {
    url,
    configuration: configurationOf(directory, root, url),
    ramdisk: { kernelUrl: `${url}/ramdisk/kernel`, initrdUrl: `${url}/ramdisk/initrd`, isoUrl: undefined },
    connect: (node) => {
      const macs = node.machine.hardware.nics.map(({ macAddress }) => macAddress);
      macAddresses.set(node.uuid, macs);
      const work = new AgentWork(simulated(node));
      stack.use(runAgents(node, work, authority));
      return work;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The erasure of metadata alone, as Metal3 configures it; everything that is short is only shorter than in production. */
const configurationOf = (directory: string, root: string, url: string): IronicBoot['configuration'] => ({
  deploy: [
    `http_root = ${root}`,
    `http_url = ${url}`,
    'erase_devices_priority = 0',
    'erase_devices_metadata_priority = 10',
  ],
  pxe: [`tftp_master_path = ${join(directory, 'master')}`, `images_path = ${join(directory, 'images')}`],
  agent: [
    `certificates_path = ${join(directory, 'certificates')}`,
    `deploy_logs_local_path = ${join(directory, 'logs')}`,
    'post_deploy_get_power_state_retry_interval = 1',
  ],
});

/** The ramdisk, the boot script that Ironic wrote for a machine, or another file of Ironic. */
async function fileOf(
  url: string,
  root: string,
  macAddresses: ReadonlyMap<string, readonly string[]>,
): Promise<Buffer> {
  if (url.startsWith('/ramdisk/')) return Buffer.from('the ramdisk');
  const machine = /^\/ipxe\/(.+)$/.exec(url)?.[1];
  if (machine === undefined) return readFile(join(root, normalize(url)));
  const [mac = ''] = macAddresses.get(machine) ?? [];
  return readFile(join(root, 'pxelinux.cfg', mac.replaceAll(':', '-')));
}

/** An agent for each boot of the ramdisk, which ends with it. */
function runAgents({ machine }: Node, work: AgentWork, authority: FleetAuthority): AsyncDisposable {
  const agents = new Set<Promise<void>>();
  let running: typeof machine.running;
  let boot = new AbortController();
  const watch = machine.onChange(() => {
    if (machine.running === running) return;
    boot.abort();
    running = machine.running;
    if (running === undefined || !isIronicAgent(running)) return;
    boot = new AbortController();
    const agent = new IronicAgent({ hardware: machine.hardware, parameters: running.parameters, authority, work });
    const ended = agent.run(boot.signal).catch((error: unknown) => {
      if (!boot.signal.aborted) process.stderr.write(`agent of Ironic: ${String(error)}\n`);
    });
    agents.add(ended);
  });
  return {
    [Symbol.asyncDispose]: async () => {
      watch[Symbol.dispose]();
      boot.abort();
      await Promise.all(agents);
    },
  };
}
