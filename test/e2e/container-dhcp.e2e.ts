import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildContainer } from '@metal/container/build-container.ts';
import { dhcpCapabilities } from '@metal/container/recipe.ts';
import { runContainer } from '@metal/container/run-container.ts';
import { NetworkNamespace } from '@metal/testenv/network/network-namespace.ts';

const log = (line: string) => void process.stderr.write(`${line}\n`);

/** As the operator does: the shell is its child, dnsmasq is the child of the shell and another user. */
const script = `
trap 'kill -TERM $child' TERM
dnsmasq --keep-in-foreground --port=0 --log-facility=- --pid-file --interface=dhcp --bind-dynamic --leasefile-ro \
  --dhcp-range=192.0.2.10,192.0.2.20,255.255.255.0 --enable-tftp --tftp-root=/usr/lib/ipxe &
child=$!
wait $child
wait $child`;

test('dnsmasq of the image with DHCP listens, and obeys the operator, with the capabilities of the page', {
  timeout: 180_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'metal-container-dhcp-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  const { rootDirectory } = await buildContainer({ out: directory, log, variant: 'dhcp' });
  const namespace = stack.use(await NetworkNamespace.open('metal-image'));
  await namespace.ip('link add dhcp type veth peer name nic');
  await namespace.ip('address add 192.0.2.1/24 dev dhcp');
  await namespace.ip('link set dhcp up');
  const started = Promise.withResolvers<void>();
  const container = stack.use(
    await runContainer({
      rootDirectory,
      command: ['/bin/sh', '-c', script],
      args: [],
      uid: 0,
      gid: 0,
      capabilities: dhcpCapabilities,
      networkNamespace: `/run/netns/${namespace.name}`,
      onLine: (line) => {
        if (line.includes('DHCP, sockets bound exclusively')) started.resolve();
      },
    }),
  );
  const ended = container.ended.then((code) => assert.fail(`ended with ${code}: ${container.lines.join('\n')}`));
  await Promise.race([started.promise, ended]);
  ended.catch(() => undefined);
  assert.equal(await container.stop(), 0);
  assert.match(container.lines.at(-1) ?? '', /exiting on receipt of SIGTERM/);
});
