import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buildOfCheckout } from '@metal/container/build-container.ts';
import { repository } from '@metal/container/bundle.ts';
import { requireCurrentLock } from '@metal/container/image-lock.ts';
import { buildImage } from '@metal/discovery-image/build-image.ts';
import { findHelm } from '@metal/project/helm.ts';
import { Command, Option } from 'commander';
import { buildRelease } from './build-release.ts';
import { readSigningKey } from './checksums.ts';
import { requireReleasable } from './preconditions.ts';
import { runCommand } from './run-command.ts';

interface Flags {
  out?: string;
  withoutDiscoveryImage: boolean;
  locked: boolean;
  signingKey?: string;
}

const command = new Command('release')
  .description('Builds the files of a release from a checkout without changes. It publishes nothing.')
  .argument('<version>', 'version of package.json, with a section of its own in CHANGELOG.md')
  .option('--out <directory>', 'output directory (default: .release/VERSION)')
  .option('--without-discovery-image', 'leave out the discovery image, which takes minutes', false)
  .option('--locked', 'build with the packages of image-lock.json even if apt offers others', false)
  .addOption(
    new Option('--signing-key <file>', 'private Ed25519 key (PEM) that signs SHA256SUMS').env('RELEASE_SIGNING_KEY'),
  )
  .action(release);

async function release(version: string, flags: Flags): Promise<void> {
  const started = performance.now();
  const log = (line: string): void => {
    const seconds = ((performance.now() - started) / 1_000).toFixed(0).padStart(4);
    process.stdout.write(`${seconds} s  ${line}\n`);
  };
  await requireReleasable(repository, version);
  const signingKey = flags.signingKey === undefined ? {} : { signingKey: await readSigningKey(flags.signingKey) };
  if (!flags.locked) await requireCurrentLock();
  await buildRelease({
    out: resolve(flags.out ?? join(repository, '.release', version)),
    build: await buildOfCheckout(),
    changelog: await readFile(join(repository, 'CHANGELOG.md'), 'utf8'),
    helm: await findHelm({ environment: process.env, log }),
    ...(flags.withoutDiscoveryImage ? {} : { writeDiscoveryImage }),
    ...signingKey,
    log,
  });
}

const writeDiscoveryImage = (out: string, log: (line: string) => void): Promise<void> => buildImage({ out, log });

await runCommand(command);
