import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedReconcileScope, unsharedReconcileScope } from './reconcile-scope.ts';

test('a signal is made when it is first read', ({ mock }) => {
  const { mock: made } = mock.method(AbortSignal, 'any');
  const scope = new SharedReconcileScope(new AbortController().signal, () => true);
  assert.equal(scope.isAborted(), false);
  assert.equal(made.callCount(), 0);
  assert.equal(scope.signal, scope.signal);
  assert.equal(made.callCount(), 1);
});

test('abort aborts the signal, whether it is read before or after', () => {
  const scope = new SharedReconcileScope(new AbortController().signal, () => true);
  const { signal } = scope;
  assert.equal(signal.aborted, false);
  scope.abort();
  assert.match(String(signal.reason), /another replica takes over/);
  const late = new SharedReconcileScope(new AbortController().signal, () => true);
  late.abort();
  assert.ok(late.signal.aborted && late.isAborted());
});

test('the end of the process aborts the signal, and the scope still owns its object', () => {
  const parent = new AbortController();
  const scopes = [new SharedReconcileScope(parent.signal, () => true), unsharedReconcileScope(parent.signal)];
  const signals = scopes.map(({ signal }) => signal);
  parent.abort();
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
  assert.deepEqual(
    scopes.map((scope) => scope.isAborted()),
    [false, false],
  );
});

test('a scope is aborted as soon as the replica is not the owner', () => {
  let isOwner = true;
  const parent = new AbortController().signal;
  const scopes = [new SharedReconcileScope(parent, () => isOwner), unsharedReconcileScope(parent, () => isOwner)];
  const areAborted = () => scopes.map((scope) => scope.isAborted());
  assert.deepEqual(areAborted(), [false, false]);
  isOwner = false;
  assert.deepEqual(areAborted(), [true, true]);
});
