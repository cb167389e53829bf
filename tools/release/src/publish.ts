import { join, resolve } from 'node:path';
import { repository } from '@metal/container/bundle.ts';
import { findHelm } from '@metal/project/helm.ts';
import { Command } from 'commander';
import { publishRelease } from './publish-release.ts';
import { runCommand } from './run-command.ts';

const log = (line: string): void => void process.stdout.write(`${line}\n`);

const command = new Command('publish')
  .description(
    'Pushes images and chart of a built release to a registry. Log in before: skopeo login, helm registry login.',
  )
  .argument('<version>', 'version of the release')
  .argument('<registry>', 'host with an optional path, such as registry.example/team')
  .option('--from <directory>', 'directory of the release (default: .release/VERSION)')
  .option('--plain-http', 'HTTP instead of HTTPS', false)
  .action(async (version: string, registry: string, flags: { from?: string; plainHttp: boolean }) => {
    const from = resolve(flags.from ?? join(repository, '.release', version));
    const helm = await findHelm({ environment: process.env, log });
    await publishRelease({ from, version, registry, plainHttp: flags.plainHttp, helm, log });
  });

await runCommand(command);
