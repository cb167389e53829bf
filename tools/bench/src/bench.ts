import { evaluateBudgets, missed } from './budgets.ts';
import { benchCommand, type BenchFlags, operatorChoiceOf, speedOf } from './options.ts';
import { Progress } from './progress.ts';
import { jsonOf, type Report, tableOf } from './report.ts';
import { runCommand } from './run-command.ts';
import { runScenarios } from './run-scenarios.ts';

const missedExitCode = 1;

const command = benchCommand(
  'make bench',
  'Measures the cost and the speed of the operator and compares them with budgets.',
).action(async () => {
  const flags = command.opts<BenchFlags>();
  const report = await measure(flags);
  process.stdout.write(flags.output === 'json' ? jsonOf(report) : tableOf(report));
  if (missed(report.budgetResults).length > 0) process.exitCode = missedExitCode;
});

async function measure(flags: BenchFlags): Promise<Report> {
  const { servers, latency, power, boot, erase, seed, steady } = flags;
  const measurements = await runScenarios({
    names: flags.scenarios,
    servers,
    seed,
    speed: speedOf(flags),
    steadySeconds: steady,
    operator: operatorChoiceOf(flags),
    progress: new Progress(process.stderr),
  });
  const conditions = { servers, 'latency ms': latency, 'power ms': power, 'boot ms': boot, 'erase ms': erase, seed };
  return { conditions, measurements, budgetResults: evaluateBudgets(measurements) };
}

runCommand('bench', command);
