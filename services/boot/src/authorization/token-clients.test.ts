import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '@metal/kube/runtime/fake-clock.ts';
import { type Stage, TokenClients } from './token-clients.ts';

const [machine, second, outsider] = ['192.0.2.1', '192.0.2.2', '192.0.2.66'];

/** One boot, of a server that is known by one address. */
function bootWith(clients: TokenClients, bootUid = 'boot') {
  const visit = (stage: Stage, address: string) => ({ bootUid, stage, address, isKnown: address === machine });
  return {
    loads: (stage: Stage, address: string) => clients.admit(visit(stage, address)),
    script: (address: string) => clients.holderBefore(visit('firmware', address)),
  };
}

test('the first client that loads a boot has it, and another one is refused, also the script', () => {
  const boot = bootWith(new TokenClients(fakeClock()));
  assert.equal(boot.script(outsider), undefined, 'a script alone makes nobody the client');
  assert.equal(boot.loads('firmware', second), undefined);
  assert.equal(boot.loads('firmware', second), undefined, 'kernel, then initrd');
  assert.deepEqual([boot.loads('firmware', outsider), boot.script(outsider)], [second, second]);
});

test('the system may come from another address than the firmware, and only one does', () => {
  const boot = bootWith(new TokenClients(fakeClock()));
  boot.loads('firmware', machine);
  assert.equal(boot.loads('system', second), undefined);
  assert.equal(boot.loads('system', outsider), second);
});

test('firmware that begins anew brings another system, perhaps with another lease', () => {
  const boot = bootWith(new TokenClients(fakeClock()));
  for (const system of [second, outsider]) {
    assert.equal(boot.loads('firmware', machine), undefined);
    assert.equal(boot.loads('system', system), undefined);
  }
});

test('an address that the server is known by takes the boot from one that it is not known by', () => {
  const boot = bootWith(new TokenClients(fakeClock()));
  assert.equal(boot.loads('firmware', outsider), undefined);
  assert.equal(boot.loads('firmware', machine), undefined);
  assert.equal(boot.loads('firmware', outsider), machine);
});

test('a client that has been silent for ten minutes makes room, and each boot has its own', () => {
  const clock = fakeClock();
  const clients = new TokenClients(clock);
  const boot = bootWith(clients);
  boot.loads('firmware', second);
  assert.equal(bootWith(clients, 'other').loads('firmware', outsider), undefined);
  clock.advance(10 * 60_000);
  assert.equal(boot.loads('firmware', outsider), second);
  clock.advance(1);
  assert.equal(boot.loads('firmware', outsider), undefined);
});
