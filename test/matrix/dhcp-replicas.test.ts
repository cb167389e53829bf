import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startDhcp } from '@metal/dhcp/dhcp.ts';
import { watchMachineKinds } from '@metal/dhcp/machines.ts';
import { Lease } from '@metal/kube/kinds/builtin.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { LogLines } from '@metal/testenv/operator/log-lines.ts';
import { Registry } from 'prom-client';
import { directoryWith } from '@metal/testenv/cluster/service-fixture.ts';
import { dhcpFlags } from '../fixtures/dhcp-flags.ts';

const run = promisify(execFile);
const startTestenv = testenvsOfFile();

/** The test environment runs ten times as fast as the wall clock: long enough for a busy machine to renew in time. */
const times = { leaseMs: 60_000, renewMs: 40_000, retryMs: 2_000 };
/** A replacement of dnsmasq that accepts every configuration and then runs the command. */
const program = (command: string) => ['/bin/sh', '-c', `case "$*" in *--test*) exit 0;; esac; ${command}`, 'dnsmasq'];
const portIsTaken = program('echo "dnsmasq: failed to bind DHCP server socket: Address already in use" >&2; exit 2');
const listens = program('echo "dnsmasq[1]: started, version of a test" >&2; exec sleep 1000');

async function openFixture() {
  const stack = new AsyncDisposableStack();
  const testenv = stack.use(await startTestenv({ operator: 'none' }));
  const scratch = stack.use(await directoryWith({}));
  const { client, clock } = testenv;
  const startReplica = async (identity: string, command: string[], { lines = new LogLines(), alone = false } = {}) => {
    const metrics = new Registry();
    const flags = { ...dhcpFlags, directory: `${scratch.path}/${identity}` };
    const service = await startDhcp({
      mode: 'dnsmasq',
      flags,
      client,
      caches: watchMachineKinds(testenv.caches),
      bootTokenKey: () => Promise.resolve(new Uint8Array(32)),
      isManagementDevice: () => true,
      leaderElection: alone ? undefined : { namespace: 'default', leaseName: 'dhcp-replicas', identity, ...times },
      command,
      metrics,
      clock,
      log: lines.log,
    });
    stack.use(service);
    const up = async () => /^metal_dhcp_up (\d)$/m.exec(await metrics.metrics())?.[1];
    return { lines, up };
  };
  const holder = async () =>
    (await client.get(Lease, { namespace: 'default', name: 'dhcp-replicas' })).spec?.holderIdentity;
  return { startReplica, holder, scratch: scratch.path, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('a replica whose dnsmasq cannot listen gives up its lease, and another replica answers', async () => {
  await using fixture = await openFixture();
  const broken = await fixture.startReplica('broken', portIsTaken);
  const lostLease = broken.lines.next(/DHCP is not answered by this process any more/);
  await broken.lines.next(/ended by itself/);
  assert.equal(await fixture.holder(), 'broken');
  const lines = new LogLines();
  const serving = lines.next(/DHCP answers known machines/);
  const healthy = await fixture.startReplica('healthy', listens, { lines });
  assert.match(await lostLease, /failed to bind DHCP server socket: Address already in use.*DnsmasqDown/);
  await serving;
  assert.equal(await fixture.holder(), 'healthy');
  assert.deepEqual([await broken.up(), await healthy.up()], ['0', '1']);
});

test('a single process whose dnsmasq cannot listen retries and reports that it does not answer', async () => {
  await using fixture = await openFixture();
  const { lines, up } = await fixture.startReplica('alone', portIsTaken, { alone: true });
  const logLine = await lines.next(/"againInMs":30000.*ended by itself|DHCP answers known machines/);
  assert.match(logLine, /ended by itself/);
  assert.equal(await up(), '0');
});

test('metal_dhcp_up reports a dnsmasq that stops listening, and its recovery', async () => {
  await using fixture = await openFixture();
  const end = join(fixture.scratch, 'end');
  await run('mkfifo', [end]);
  const untilSignalled = `echo "dnsmasq[1]: started, version of a test" >&2; read -r _ < ${end}; exit 2`;
  const lines = new LogLines();
  const serving = lines.next(/DHCP answers known machines/);
  const { up } = await fixture.startReplica('alone', program(untilSignalled), { lines, alone: true });
  await serving;
  assert.equal(await up(), '1');
  const back = lines.next(/DHCP answers known machines/);
  const ended = lines.next(/ended by itself/);
  await writeFile(end, '\n');
  await ended;
  assert.equal(await up(), '0');
  await back;
  assert.equal(await up(), '1');
});
