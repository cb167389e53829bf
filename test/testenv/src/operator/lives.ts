import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeOptions } from '@metal/simulator/fleet.ts';
import { type ImageServer, startImageServer } from '../network/image-server.ts';
import type { Testenv, TestenvOptions } from '../testenv.ts';
import { type FaultPoint, faultPointOf } from './fault-points.ts';
import { LifeRun, type Undisturbed } from './life-run.ts';
import { startRestartingTestenv, type RestartingTestenvOptions } from './restarting-operator.ts';
import { racksOfSeeds } from './seeds.ts';

/** What a user does with one machine. It is run without kills, with one at each named fault point, and at those of seeds. */
export interface Life {
  readonly title: string;
  /** The machine; a generic server by default. */
  readonly node?: NodeOptions;
  /** Nothing is killed in it. */
  readonly begin?: (run: LifeRun) => Promise<unknown>;
  readonly live: (run: LifeRun) => Promise<unknown>;
  /** What holds in the end, after the last kill. */
  readonly verify?: (run: LifeRun) => Promise<unknown>;
  readonly faultPoints?: Readonly<Record<string, NamedFaultPoint>>;
  /** Completes the titles of its named fault points. */
  readonly outcome?: string;
  /** The named fault points are those of one test, with a machine for each. */
  readonly isOneTest?: boolean;
  /** Run at its named fault points only. */
  readonly isNamedOnly?: boolean;
}

type IsReached = (run: LifeRun) => boolean;

export type NamedFaultPoint =
  | FaultPoint
  | IsReached
  /** What happens while the operator is down. */
  | { readonly isReached: IsReached; readonly meanwhile: (run: LifeRun) => Promise<unknown> };

interface Lives {
  /** Completes the titles: an operator killed at … */
  readonly outcome: string;
  readonly environment: Omit<RestartingTestenvOptions, 'flags'> & {
    readonly flags: (images: ImageServer) => readonly string[];
    readonly metal3?: boolean;
  };
  readonly lives: readonly Life[];
  /** Machines of one operator; each has its own seed, and every fault point kills the operator of all. */
  readonly rackSize?: number;
}

/** A life of one machine, and where the operator is killed in it. */
interface Row {
  readonly life: Life;
  readonly name?: string;
  readonly point?: NamedFaultPoint;
  readonly seed?: number;
}

interface Rack {
  readonly title: string;
  readonly rows: readonly Row[];
  /** How to repeat it. */
  readonly hint?: string | undefined;
}

type StartTestenv = (options: TestenvOptions) => Promise<Testenv>;

/** One test for each named fault point, and one for each rack of seeds. */
export function testLives(startTestenv: StartTestenv, table: Lives): void {
  const { outcome, lives, rackSize = 5 } = table;
  const seeded = lives.filter(({ isNamedOnly }) => isNamedOnly !== true);
  let undisturbed: Promise<readonly Undisturbed[]> | undefined;
  for (const { title, rows, hint } of [
    ...lives.flatMap((life) => namedRacks(life, outcome)),
    ...seededRacks(seeded, outcome, rackSize),
  ])
    test(`an operator killed ${title}`, async () => {
      undisturbed ??= runRows(startTestenv, table, { rows: seeded.map((life) => ({ life })), goals: [] });
      const ends = await undisturbed;
      await runRows(startTestenv, table, { rows, goals: rows.map(({ life }) => ends[seeded.indexOf(life)]), hint });
    });
}

function namedRacks(life: Life, outcome: string): Rack[] {
  const text = life.outcome ?? outcome;
  const rows = Object.entries(life.faultPoints ?? {}).map(([name, point]) => ({ life, name, point }));
  if (life.isOneTest === true) return [{ title: `at each step of ${life.title} ${text}`, rows }];
  return rows.map((row) => ({ title: `when ${row.name} ${text}`, rows: [row] }));
}

const seededRacks = (lives: readonly Life[], outcome: string, rackSize: number): Rack[] =>
  (lives.length === 0 ? [] : racksOfSeeds(rackSize)).map(({ seeds, text, hint }) => ({
    title: `at the fault points of ${text} ${outcome}`,
    rows: seeds.flatMap((seed, index) => {
      const life = lives[index % lives.length];
      return life === undefined ? [] : [{ life, seed, name: `seed ${seed}` }];
    }),
    hint,
  }));

/** Lives of machines of one operator, all at once, and the same lives without kills. */
async function runRows(
  startTestenv: StartTestenv,
  { environment: { flags, metal3 = false, ...options } }: Lives,
  { rows, goals, hint = '' }: Omit<Rack, 'title'> & { readonly goals: readonly (Undisturbed | undefined)[] },
): Promise<readonly Undisturbed[]> {
  if (rows.length === 0) return [];
  await using images = await startImageServer();
  const start = (given: TestenvOptions) => startTestenv({ ...given, metal3 });
  await using opened = await startRestartingTestenv(start, { ...options, flags: flags(images) });
  const { testenv, operator } = opened;
  const runs: LifeRun[] = [];
  for (const [index, { life }] of rows.entries()) {
    const node = await testenv.fleet.add({ vendor: 'generic', ...life.node });
    testenv.timeline.follow(node);
    runs.push(new LifeRun({ testenv, operator, images, node, goal: goals[index] }));
  }
  const ofAll = <T>(act: (run: LifeRun, row: Row) => Promise<T>): Promise<T[]> =>
    Promise.all(
      rows.map(async (row, index) => {
        const run = runs[index] ?? assert.fail('a machine is missing');
        return await act(run, row).catch((error: unknown) => {
          throw new Error(`${describe(run, row)}${hint}`, { cause: error });
        });
      }),
    );
  await ofAll(async (run, { life }) => life.begin?.(run));
  // Awaited here: the test environment is closed when this function returns.
  const ends = await ofAll(runRow);
  await operator.started;
  return ends;
}

async function runRow(run: LifeRun, row: Row): Promise<Undisturbed> {
  using faultPoints = run.countFaultPoints();
  killIn(run, row);
  await row.life.live(run);
  const counts = { ...faultPoints.counts };
  // A life with other kills may have fewer events than the seed has chosen from.
  assert.ok(row.seed !== undefined || !faultPoints.isPending, 'the fault point was not reached');
  faultPoints.fireIfPending();
  await run.operator.started;
  await row.life.verify?.(run);
  return { counts, values: run.values };
}

/** The operator is killed at the fault point of the row, if it has one. */
function killIn(run: LifeRun, row: Row): void {
  const point = pointOf(run, row);
  if (point === undefined) return;
  const [at, meanwhile] =
    typeof point === 'object' && 'isReached' in point ? [point.isReached, point.meanwhile] : [point, undefined];
  run.faultPoints.at(typeof at === 'function' ? () => at(run) : at, () =>
    run.operator.kill(describe(run, row), async () => meanwhile?.(run)),
  );
}

const pointOf = ({ goal }: LifeRun, { seed, point }: Row): NamedFaultPoint | undefined =>
  seed === undefined || goal === undefined ? point : faultPointOf(seed, goal.counts);

function describe(run: LifeRun, row: Row): string {
  const point = pointOf(run, row);
  const number = typeof point === 'object' && 'kind' in point ? `: ${point.kind} ${point.number}` : '';
  return `${row.life.title} of ${run.node.name}, killed at ${row.name ?? 'no point'}${number}`;
}
