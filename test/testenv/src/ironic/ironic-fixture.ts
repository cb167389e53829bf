import { systemClock } from '@metal/kube/runtime/clock.ts';
import { IronicBackEnd, type IronicBackEndOptions } from '@metal/metal3/ironic/ironic-back-end.ts';
import type { IronicOptions } from '@metal/metal3/ironic/options.ts';
import { withFakeHardware } from './fake-hardware.ts';
import { IronicHost, type IronicHostOptions, ironicOptions } from './ironic-host.ts';
import { type IronicRelay, startIronicRelay } from './ironic-relay.ts';
import { type IronicService, type IronicServiceOptions, startIronic } from './ironic.ts';

/** A real Ironic behind a relay, and the back end of the operator for it. */
export interface IronicFixture extends AsyncDisposable {
  readonly ironic: IronicService;
  readonly relay: IronicRelay;
  readonly backEnd: IronicBackEnd;
  /** A host on fake hardware with the cleaning disabled, unless the spec says otherwise. */
  host(spec?: Partial<IronicHostOptions['spec']>, others?: Partial<Omit<IronicHostOptions, 'spec'>>): IronicHost;
  /** Another back end for the same Ironic. */
  backEndWith(options: Partial<IronicOptions>, others?: Partial<IronicBackEndOptions>): IronicBackEnd;
  /** The node of a host, as another client sees it. @throws Error with 404 if there is none */
  node(host: IronicHost): Promise<Readonly<Record<string, unknown>>>;
}

export async function startIronicFixture(
  service: IronicServiceOptions = {},
  backEndOptions: Partial<IronicOptions> = {},
): Promise<IronicFixture> {
  const stack = new AsyncDisposableStack();
  try {
    const ironic = stack.use(await startIronic(service));
    const relay = stack.use(await startIronicRelay(ironic.url));
    const backEndWith: IronicFixture['backEndWith'] = (changes, others = {}) => {
      const options = { ...ironicOptions(relay.url), ...changes };
      const given = { options, clock: systemClock, random: Math.random, parseAddress: withFakeHardware, ...others };
      return stack.use(new IronicBackEnd(given));
    };
    const backEnd = backEndWith(backEndOptions);
    let count = 0;
    return {
      ironic,
      relay,
      backEnd,
      backEndWith,
      host(spec = {}, { backEnd: other = backEnd, ...others } = {}) {
        count += 1;
        const name = `host-${count}`;
        const bootMACAddress = `52:54:00:00:01:${count.toString(16).padStart(2, '0')}`;
        const bmc = { address: `fake://${name}`, credentialsName: `${name}-bmc` };
        const credentials = { username: 'admin', password: 'opensesame' };
        return new IronicHost({ backEnd: other, name, spec: { bootMACAddress, bmc, ...spec }, credentials, ...others });
      },
      node: async (host) => Object(await ironic.request('GET', `nodes/${host.nodeName}`)),
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}
