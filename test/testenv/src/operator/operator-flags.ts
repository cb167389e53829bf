import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@metal/controlplane/free-port.ts';
import type { Fleet } from '@metal/simulator/fleet.ts';

export interface OperatorFlagOptions {
  /** Extra flags of the operator. */
  readonly flags?: readonly string[];
  /** Text of the MAC prefix database instead of the fleet's own. */
  readonly macPrefixes?: (fleet: Fleet) => string;
  /** Verify BMC certificates against the fleet's CA. */
  readonly bmcCa?: boolean;
  /** How the operator runs: inside the test, as a separate process, or not until requested. */
  readonly operator?: 'inside' | 'process' | 'none';
}

/** Flags of an operator for this fleet, with their files in a temporary directory. */
export async function operatorFlags(
  options: OperatorFlagOptions,
  fleet: Fleet,
  kubeconfigPath: string,
  stack: AsyncDisposableStack,
): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'metal-testenv-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const path = (name: string) => join(directory, name);
  await writeFile(path('prefixes.yaml'), options.macPrefixes?.(fleet) ?? fleet.macPrefixFile());
  if (options.bmcCa === true) await writeFile(path('ca.pem'), fleet.caPem ?? '');
  await writeFile(path('vmlinuz'), 'kernel of the test environment\n'.repeat(64));
  await mkdir(path('boot-cache'));
  await writeFile(path('initrd'), 'initrd of the test environment\n'.repeat(64));
  const image = { kernel: path('vmlinuz'), initrd: path('initrd') };
  await writeFile(
    path('images.json'),
    JSON.stringify({ 'probe-os': image, 'registry.test/os:1': image, 'registry.test/os:2': image }),
  );
  return [
    `--kubeconfig=${kubeconfigPath}`,
    `--mac-prefixes-file=${path('prefixes.yaml')}`,
    `--boot-images=${path('images.json')}`,
    '--probe-image=probe',
    '--probe-os-image=probe-os',
    ...(await portFlags(options.operator ?? 'inside')),
    // A process that is killed removes no temporary directory of its own.
    `--boot-cache-dir=${path('boot-cache')}`,
    '--protocol=http',
    '--metrics-bind-address=0',
    '--health-probe-bind-address=0',
    '--bmc-call-timeout=1m',
    ...(options.bmcCa === true ? [`--bmc-ca-file=${path('ca.pem')}`] : []),
    ...(options.flags ?? []),
  ];
}

/** Machines reach a killed and restarted operator process at the same addresses. */
async function portFlags(operator: NonNullable<OperatorFlagOptions['operator']>): Promise<string[]> {
  if (operator === 'inside')
    return ['--registry-url=http://127.0.0.1', '--registry-port=0', '--boot-port=0', '--metadata-port=0'];
  const [registry, boot] = [await freePort(), await freePort()];
  return [
    `--registry-url=http://127.0.0.1:${registry}`,
    `--registry-port=${registry}`,
    `--boot-url=http://127.0.0.1:${boot}`,
    `--boot-port=${boot}`,
  ];
}
