import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Option } from 'commander';
import { fleetOptions, type FleetFlags, operatorChoiceOf, speedOf } from './options.ts';
import { summaryOfCpu } from './profile/cpu-profile.ts';
import { constructorsIn } from './profile/heap-snapshot.ts';
import { Inspector, inspectorOption, inspectorUrlIn } from './profile/inspector.ts';
import { recordCpu, takeHeapSnapshot } from './profile/recording.ts';
import { summaryText } from './profile/summary.ts';
import { Progress } from './progress.ts';
import { runCommand } from './run-command.ts';
import { bringUp } from './scenario/bring-up.ts';
import { claimStorm } from './scenario/claim-storm.ts';
import { releaseStorm } from './scenario/release-storm.ts';
import { steady } from './scenario/steady.ts';
import { SharedStage } from './shared-stage.ts';

/** Scenarios with one operator process throughout. */
const profiled = [bringUp, claimStorm, releaseStorm, steady];

interface ProfileFlags extends FleetFlags {
  readonly scenario: string;
  readonly steady: number;
  readonly out: string;
}

const help = `
What is written: <scenario>.cpuprofile and <scenario>.heapsnapshot, for the developer tools of Chrome (Performance, Memory).
NODE_OPTIONS starts the inspector of the operator; its flags do not change; a profile makes it slower,
so figures come from make bench.

Examples:
  make profile                                             a bring-up of 100 servers
  make profile ARGS="--scenario claim-storm --servers 300"
  make profile ARGS="--operator-flags ours --operator ../before/node_modules/.bin/metal-operator"`;

const command = fleetOptions('make profile', 'Profiles processor time and memory of the operator in one scenario.', 100)
  .addOption(
    new Option('--scenario <name>', 'scenario to profile')
      .choices(profiled.map(({ name }) => name))
      .default('bring-up'),
  )
  .option('--steady <seconds>', 'duration of the steady state', Number, 60)
  .option('--out <directory>', 'output directory', '.profile')
  .addHelpText('after', help)
  .action(async () => {
    process.stdout.write(await profile(command.opts<ProfileFlags>()));
  });

async function profile(flags: ProfileFlags): Promise<string> {
  const { servers, seed, out, steady: steadySeconds } = flags;
  const scenario = profiled.find(({ name }) => name === flags.scenario) ?? bringUp;
  const progress = new Progress(process.stderr);
  const operator = { ...operatorChoiceOf(flags), environment: { ...process.env, NODE_OPTIONS: inspectorOption } };
  await using shared = new SharedStage({ servers, seed, speed: speedOf(flags), operator, progress });
  // Read at the start, because only the end of a growing log is kept.
  const { operators } = await shared.reaching('unplugged');
  using inspector = await Inspector.connect(inspectorUrlIn(operators[0]?.log ?? []));
  const stage = await shared.reaching(scenario.startState);
  progress.log(`${scenario.name}: ${scenario.summary}`);
  const recorded = await recordCpu(inspector, () => scenario.run(stage, { steadySeconds, measured: () => undefined }));
  const snapshot = await takeHeapSnapshot(inspector);
  const path = (ending: string) => join(out, `${scenario.name}.${ending}`);
  await mkdir(out, { recursive: true });
  await writeFile(path('cpuprofile'), recorded.text);
  await writeFile(path('heapsnapshot'), snapshot);
  return summaryText({
    title: `${scenario.name}, ${servers} servers`,
    cpu: summaryOfCpu(recorded.profile, new URL('../../../', import.meta.url).href),
    constructors: constructorsIn(snapshot),
    figures: recorded.result.figures,
    files: [path('cpuprofile'), path('heapsnapshot')].map((file) => relative(process.cwd(), file)),
  });
}

runCommand('profile', command);
