import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { machineFiles } from '../machine-files.ts';
import type { ProbeConfig } from '../options.ts';
import { type AgentOptions, runAgent } from './run-agent.ts';

const ignition = JSON.stringify({
  systemd: {
    units: [
      {
        name: 'metalprobe.service',
        enabled: true,
        contents: 'ExecStart=/usr/bin/metalprobe --registry-url=http://registry.test --server-uuid=U1',
      },
    ],
  },
});
const address = { netmask: '', mac: '', internal: false, cidr: null, family: 'IPv4' as const };

/** An agent whose boot service sends these answers in turn, then repeats the last one. */
async function agentWith(answers: (() => Response)[], more: Partial<AgentOptions> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'agent-test-'));
  await mkdir(join(root, 'leases'));
  await writeFile(join(root, 'cmdline'), 'ignition.config.url=http://boot.test/boot/secret/ignition');
  const stop = new AbortController();
  const [printed, requested, pauses, reported]: [string[], string[], number[], ProbeConfig[]] = [[], [], [], []];
  let now = 0;
  const options: AgentOptions = {
    clock: {
      now: () => now,
      sleep: async (delayMs, signal) => {
        signal?.throwIfAborted();
        now += delayMs;
        pauses.push(delayMs);
      },
    },
    signal: stop.signal,
    random: () => 1,
    print: (line) => void printed.push(line),
    fetch: async (url) => {
      requested.push(url instanceof Request ? url.url : url.toString());
      return ((answers.length > 1 ? answers.shift() : answers[0]) ?? (() => new Response('')))();
    },
    run: () => Promise.reject(new Error('not installed')),
    addresses: () => ({ eth0: [{ ...address, address: '10.0.0.5' }] }),
    sys: machineFiles(join(root, 'sys')),
    proc: machineFiles(root),
    leases: machineFiles(join(root, 'leases')),
    report: async (config) => {
      reported.push(config);
      stop.abort(new Error('enough'));
      stop.signal.throwIfAborted();
    },
    ...more,
  };
  const over = assert.rejects(runAgent(options), { message: 'enough' });
  await over.finally(() => rm(root, { recursive: true }));
  return { printed, requested, pauses, reported, stop };
}

test('the agent retries to fetch orders with growing pauses and prints each failure', async () => {
  const connectionRefused = () => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 192.0.2.1:80') });
  };
  const { printed, requested, pauses, reported } = await agentWith([
    connectionRefused,
    () => new Response('no such boot', { status: 404 }),
    () => new Response('<html>'),
    () => new Response(ignition),
  ]);
  assert.deepEqual(pauses, [1_000, 2_000, 4_000]);
  assert.equal(requested[0], 'http://boot.test/boot/secret/ignition');
  assert.deepEqual(reported[0]?.registryUrl, 'http://registry.test');
  const failures = printed.filter((line) => line.startsWith('No orders yet'));
  assert.match(failures[0] ?? '', /ECONNREFUSED 192.0.2.1:80; retrying in 1.0 s/);
  assert.match(failures[1] ?? '', /HTTP 404 no such boot; retrying in 2.0 s/);
  assert.equal(failures.length, 3);
});

test('the token in the URL of the orders is not printed', async () => {
  const { printed } = await agentWith([() => new Response(ignition)]);
  assert.ok(printed.includes('Fetching orders from http://boot.test.'));
  assert.doesNotMatch(printed.join('\n'), /secret/);
});

test('a machine without an address prints that it waits, and continues once it has one', async () => {
  let reads = 0;
  const addresses = () => {
    reads += 1;
    return { eth0: [{ ...address, address: reads < 60 ? 'fe80::1' : '10.0.0.5' }] };
  };
  const { printed, reported } = await agentWith([() => new Response(ignition)], { addresses });
  assert.equal(printed.filter((line) => line === 'Waiting for an address from DHCP.').length, 2);
  assert.equal(reported.length, 1);
});

test('the agent fetches new orders after a report is rejected', async () => {
  const stop = new AbortController();
  let reports = 0;
  const report = async () => {
    reports += 1;
    if (reports === 1) throw new Error('the token is no longer valid');
    stop.abort(new Error('enough'));
    stop.signal.throwIfAborted();
  };
  const { printed, requested } = await agentWith([() => new Response(ignition)], { report, signal: stop.signal });
  assert.ok(printed.includes('Failed: the token is no longer valid'));
  assert.equal(requested.length, 2);
});

test('an erasure order is carried out once, in place of a report', async () => {
  const order = { attempt: 2, mode: 'Clear', disks: [{ serial: 'S1', sizeBytes: 1_000 }] };
  const source = `data:,${encodeURIComponent(JSON.stringify(order))}`;
  const storage = { files: [{ path: '/etc/metalprobe/erasure.json', contents: { source } }] };
  const answer = JSON.stringify({ ...JSON.parse(ignition), storage });
  const stop = new AbortController();
  const erased: unknown[] = [];
  const { printed, reported, pauses } = await agentWith([() => new Response(answer)], {
    signal: stop.signal,
    erase: async ({ order: given, registryUrl }) => {
      erased.push([given.attempt, registryUrl]);
      queueMicrotask(() => stop.abort(new Error('enough')));
      return { systemUUID: 'U1', attempt: given.attempt, state: 'Succeeded', message: '', disks: [] };
    },
  });
  assert.deepEqual(erased, [[2, 'http://registry.test']]);
  assert.deepEqual(reported, []);
  assert.ok(printed.includes('The order succeeded. The operator powers this machine off.'));
  assert.equal(pauses.filter((pauseMs) => pauseMs === 20_000).length, 0, 'the agent does not fetch orders again');
});

test('a deployment order is carried out once, with the files beside the ignition', async () => {
  const order = {
    deployment: 'boot-1',
    disk: { serial: 'S1', model: 'M', sizeBytes: 1_000 },
    image: { encoding: 'none', sizeBytes: 500, sha256: 'a'.repeat(64) },
    configDrive: false,
  };
  const source = `data:,${encodeURIComponent(JSON.stringify(order))}`;
  const storage = { files: [{ path: '/etc/metalprobe/deployment.json', contents: { source } }] };
  const answer = JSON.stringify({ ...JSON.parse(ignition), storage });
  const stop = new AbortController();
  const deployed: unknown[] = [];
  const { printed, reported } = await agentWith([() => new Response(answer)], {
    signal: stop.signal,
    deploy: async ({ order: given, ignitionUrl, registryUrl }) => {
      deployed.push([given.deployment, ignitionUrl, registryUrl]);
      queueMicrotask(() => stop.abort(new Error('enough')));
      const place = { diskName: 'sda', writtenBytes: 500, step: 'Done' } as const;
      return { systemUUID: 'U1', deployment: given.deployment, state: 'Succeeded', message: '', ...place };
    },
  });
  assert.deepEqual(deployed, [['boot-1', 'http://boot.test/boot/secret/ignition', 'http://registry.test']]);
  assert.deepEqual(reported, []);
  assert.ok(printed.includes('WRITING an image of 500 bytes to disk S1 (M).'));
});
