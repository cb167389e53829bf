import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect as connectSecurely } from 'node:tls';
import { startEndpoints } from '@metal/metal-operator/endpoints.ts';
import { type Authority, createAuthority } from '@metal/controlplane/certificates.ts';
import { CertificateRenewal, readCertificate } from '@metal/http/certificate.ts';
import { application, listenOn } from '@metal/http/listen.ts';
import { createClock } from '@metal/kube/runtime/clock.ts';
import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { readConfig } from '@metal/metal-operator/command-line.ts';
import { pino } from 'pino';
import { Registry } from 'prom-client';

const startTestenv = testenvsOfFile();
/** A missing event fails the test instead of blocking it. */
const testOptions = { timeout: 120_000 };

/** Files as in a mounted Secret of type kubernetes.io/tls. */
async function certificateDirectory(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'metal-registry-tls-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

async function writeCertificate(directory: string, authority: Authority): Promise<void> {
  const { certificatePem, keyPem } = await authority.issue({ commonName: 'registry', ipAddresses: ['127.0.0.1'] });
  await writeFile(join(directory, 'tls.crt'), certificatePem);
  await writeFile(join(directory, 'tls.key'), keyPem);
}

test('a machine reports over TLS to a registry whose CA is in its ignition', async () => {
  await using directory = await certificateDirectory();
  const authority = await createAuthority('of the site');
  await writeCertificate(directory.path, authority);
  await writeFile(join(directory.path, 'ca.crt'), authority.certificatePem);
  await using testenv = await startTestenv({
    flags: ['--registry-url=https://127.0.0.1', `--registry-cert-path=${directory.path}`],
  });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  await testenv.server(node).hasReason('Available');
  await testenv.inventoryOf(node).exists();
});

test('a registry with the certificate of another CA receives no report', async () => {
  await using directory = await certificateDirectory();
  await writeCertificate(directory.path, await createAuthority('of another site'));
  const { certificatePem } = await createAuthority('of the site');
  const authority = join(directory.path, 'site.pem');
  await writeFile(authority, certificatePem);
  await using testenv = await startTestenv({
    flags: [
      '--registry-url=https://127.0.0.1',
      `--registry-cert-path=${directory.path}`,
      `--registry-ca-file=${authority}`,
      '--discovery-attempts=1',
      '--discovery-timeout=1m',
    ],
  });
  const [node] = await testenv.addNodes({ dell: 1 });
  assert.ok(node);
  await testenv.plugIn(node);
  const server = await testenv.server(node).hasReason('DiscoveryFailed');
  assert.equal(testenv.inventories.get(server.metadata.name), undefined);
});

test('a replaced certificate is loaded, and one without its key is not', async () => {
  await using directory = await certificateDirectory();
  const first = await createAuthority('first');
  await writeCertificate(directory.path, first);
  const files = { certificateFile: join(directory.path, 'tls.crt'), keyFile: join(directory.path, 'tls.key') };
  const clock = createClock(1_000);
  const tls = await readCertificate(files);
  const http = application({ bodyLimit: 1, requestTimeout: 10_000 }, tls);
  await using listening = await listenOn(http, {
    listen: { host: '127.0.0.1', port: 0 },
    tls,
    clock,
    shutdownGraceMs: 1,
  });

  const [shown, rejected] = [Promise.withResolvers<undefined>(), Promise.withResolvers<object>()];
  using _renewal = new CertificateRenewal({
    files,
    shown: tls,
    show: (certificate) => {
      listening.show(certificate);
      shown.resolve(undefined);
    },
    clock,
    log: { info: () => undefined, warn: (fields) => rejected.resolve(fields) },
  });
  await writeFile(files.keyFile, 'half written');
  assert.match(JSON.stringify(await rejected.promise), /tls\.key are no certificate with its key/);
  assert.equal(await statusTrusting(first, listening.url), 404);

  const second = await createAuthority('second');
  await writeCertificate(directory.path, second);
  await shown.promise;
  assert.equal(await statusTrusting(second, listening.url), 404);
  await assert.rejects(statusTrusting(first, listening.url), /self-signed certificate|unable to verify/);
});

test('a partly written certificate or key, and a key of another certificate, is rejected', async () => {
  await using directory = await certificateDirectory();
  const authority = await createAuthority('of the site');
  const files = { certificateFile: join(directory.path, 'tls.crt'), keyFile: join(directory.path, 'tls.key') };
  await writeCertificate(directory.path, authority);
  const [certificate, key] = [await readFile(files.certificateFile, 'utf8'), await readFile(files.keyFile, 'utf8')];
  assert.deepEqual(await readCertificate(files), { certificatePem: certificate, keyPem: key });
  const unfinished = (text: string) => ['', text.slice(0, text.length / 2)];
  for (const text of unfinished(certificate)) {
    await writeFile(files.certificateFile, text);
    await assert.rejects(readCertificate(files), /tls\.crt and .*tls\.key are no certificate with its key/);
  }
  await writeFile(files.certificateFile, certificate);
  for (const text of [...unfinished(key), (await authority.issue({ commonName: 'another' })).keyPem]) {
    await writeFile(files.keyFile, text);
    await assert.rejects(readCertificate(files), /tls\.crt and .*tls\.key are no certificate with its key/);
  }
});

test(
  'the metrics certificate is reloaded as well, and an unreadable one is reported at start',
  testOptions,
  async () => {
    await using directory = await certificateDirectory();
    const first = await createAuthority('first');
    await writeCertificate(directory.path, first);
    const flags = ['--components=metadata', '--metrics-bind-address=127.0.0.1:0', '--health-probe-bind-address=0'];
    const config = readConfig([...flags, `--metrics-cert-path=${directory.path}`], {});
    const shown = Promise.withResolvers<undefined>();
    const log = pino({}, { write: (line) => line.includes('a new certificate is shown') && shown.resolve(undefined) });
    const options = { guard: async () => false, readinessCheck: async () => undefined, clock: createClock(1_000), log };
    await using endpoints = await startEndpoints(config, new Registry(), options);
    const url = `${endpoints.metricsUrl}/metrics`;
    assert.equal(endpoints.healthUrl, undefined);
    assert.equal(await statusTrusting(first, url), 401);
    const second = await createAuthority('second');
    await writeCertificate(directory.path, second);
    await shown.promise;
    assert.equal(await statusTrusting(second, url), 401);

    await writeFile(join(directory.path, 'tls.key'), 'half written');
    await assert.rejects(
      startEndpoints(config, new Registry(), options),
      /^ConfigError: --metrics-cert-path: .*tls\.key are/,
    );
  },
);

test('an idle TLS connection is evicted for a new one, and a running request is not aborted', async () => {
  const authority = await createAuthority('of the site');
  const tls = await authority.issue({ commonName: 'registry', ipAddresses: ['127.0.0.1'] });
  const http = application({ bodyLimit: 1, requestTimeout: 10_000 }, tls);
  const [requested, mayRespond] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  http.get('/slow', async () => {
    requested.resolve(undefined);
    await mayRespond.promise;
    return 'done';
  });
  await using listening = await listenOn(http, {
    listen: { host: '127.0.0.1', port: 0 },
    tls,
    clock: createClock(1),
    shutdownGraceMs: 1,
    mostConnections: 4,
  });
  const slow = statusTrusting(authority, `${listening.url}/slow`);
  await requested.promise;
  const [idle, gone]: [Socket[], Promise<unknown>[]] = [[], []];
  for (let count = 0; count < 9; count += 1) {
    const connected = once(http.server, 'connection');
    const socket = connect({ port: listening.port, host: '127.0.0.1' }).on('error', () => undefined);
    idle.push(socket.resume());
    gone.push(once(socket, 'close'));
    await connected;
  }
  const known = connectSecurely({ port: listening.port, host: '127.0.0.1', ca: authority.certificatePem });
  await once(known, 'secureConnect');
  await Promise.all(gone.slice(0, 7));
  assert.equal(await statusTrusting(authority, listening.url), 404);
  mayRespond.resolve(undefined);
  assert.equal(await slow, 200);
  for (const socket of [...idle, known]) socket.destroy();
});

/** Status of a request by a client that trusts only that CA. */
function statusTrusting({ certificatePem: ca }: Authority, url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
