import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '@metal/kube/runtime/clock.ts';
import { IronicConnection } from '@metal/metal3/ironic/http/ironic-connection.ts';
import type { IronicTls } from '@metal/metal3/ironic/options.ts';
import { createFleetAuthority } from '@metal/simulator/certificates.ts';
import { ironicOptions } from '@metal/testenv/ironic/ironic-host.ts';

/** Something that is ready like an Ironic, with a certificate for a name. */
async function openFixture(name: string) {
  const stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'metal-tls-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const authority = await createFleetAuthority();
  const { certificatePem: cert, keyPem: key } = await authority.identityFor(name);
  const files = {
    caFile: join(directory, 'ca.crt'),
    certificateFile: join(directory, 'tls.crt'),
    keyFile: join(directory, 'tls.key'),
  };
  await Promise.all([
    writeFile(files.caFile, authority.caPem),
    writeFile(files.certificateFile, cert),
    writeFile(files.keyFile, key),
  ]);
  const clients: boolean[] = [];
  const server = createServer({ cert, key, ca: authority.caPem, requestCert: true, rejectUnauthorized: false });
  server.on('secureConnection', (socket: TLSSocket) => void clients.push(socket.authorized));
  server.on('request', (_, response) => {
    response.writeHead(200, { 'x-openstack-ironic-api-maximum-version': '1.115' });
    response.end('{"drivers": [{"name": "redfish"}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => server.close().closeAllConnections());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const ready = async (changes: Partial<IronicTls>) => {
    const options = ironicOptions(`https://127.0.0.1:${port}/v1/`);
    await using connection = new IronicConnection({ ...options, tls: { ...options.tls, ...changes } }, systemClock);
    return (await connection.ready()).version;
  };
  return { files, clients, ready, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('the certificate of Ironic is verified with the CA of the options, unless that is disabled', async () => {
  await using fixture = await openFixture('127.0.0.1');
  const { caFile } = fixture.files;
  assert.equal(await fixture.ready({ caFile }), 110);
  await assert.rejects(fixture.ready({}), /Ironic is not ready: .*certificate/);
  assert.equal(await fixture.ready({ isInsecure: true }), 110);
});

test('a certificate for another name is accepted if the options say so', async () => {
  await using fixture = await openFixture('127.0.0.9');
  const { caFile } = fixture.files;
  await assert.rejects(fixture.ready({ caFile }), /Ironic is not ready: .*127\.0\.0\.1/);
  assert.equal(await fixture.ready({ caFile, skipsNameVerification: true }), 110);
});

test('a client certificate is shown to Ironic, if both of its files exist', async () => {
  await using fixture = await openFixture('127.0.0.1');
  const { caFile, certificateFile } = fixture.files;
  await fixture.ready(fixture.files);
  await fixture.ready({ caFile, certificateFile, keyFile: '/nonexistent/tls.key' });
  assert.deepEqual(fixture.clients, [true, false]);
});
