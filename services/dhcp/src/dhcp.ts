import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeClient } from '@metal/kube/client/client.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import { type LeaderElectionOptions, Leadership, LeaseLost } from '@metal/kube/election/leadership.ts';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { Dnsmasq } from './dnsmasq.ts';
import { configurationOf, fileNames, leaseScript } from './dnsmasq-configuration.ts';
import { DhcpError } from './errors.ts';
import { LeaseEndpoints } from './lease-endpoints.ts';
import { type LeaseEvent, LeaseEvents } from './lease-events.ts';
import { countLeases } from './lease-metrics.ts';
import { ListeningMetric } from './listening-metric.ts';
import { type MachineCaches, serversWith } from './machines.ts';
import { HostsWriter } from './hosts-writer.ts';
import { type DhcpSettings, type DhcpFlags, settingsOf } from './settings.ts';

/** A machine got an address: the first step of a boot. */
export interface DhcpSeen extends LeaseEvent {
  /** The server with that MAC address; undefined if no server or several have it. */
  readonly serverName: string | undefined;
  readonly atMs: number;
}

export interface DhcpOptions {
  /** dnsmasq: as a child of this process. files: elsewhere, with the files of this process. */
  readonly mode: 'dnsmasq' | 'files';
  readonly flags: DhcpFlags;
  readonly client: KubeClient;
  readonly caches: MachineCaches;
  readonly bootTokenKey: () => Promise<Uint8Array>;
  /** Whether the MAC prefix database contains it. */
  readonly isManagementDevice: (mac: string) => boolean;
  /** Called for each new or renewed lease. Must not throw. */
  readonly onSeen?: ((seen: DhcpSeen) => void) | undefined;
  readonly metrics?: MetricsRegistry | undefined;
  /** Only the leader serves DHCP; by default this process does. */
  readonly leaderElection?: LeaderElectionOptions | undefined;
  /** The program and its first arguments. */
  readonly command?: readonly string[] | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Runs dnsmasq for the machines of the API server, and reads its leases.
 *
 * Without leader election dnsmasq listens when this resolves, or is restarted until it does. With it, it starts on the leader;
 * if it does not listen in time, the leader gives up the lease. Disposing ends dnsmasq.
 * @throws DhcpError for an invalid option or configuration
 */
export async function startDhcp(options: DhcpOptions): Promise<AsyncDisposable> {
  const settings = settingsOf(options.flags);
  if (options.mode === 'dnsmasq' && settings.ranges.length === 0)
    throw new DhcpError(
      'DhcpOptionInvalid',
      '--dhcp-ranges is empty: with --dhcp=dnsmasq it says which addresses to give',
    );
  const metrics = { count: countLeases(options.metrics), listening: new ListeningMetric(options) };
  if (options.leaderElection === undefined) return serve(options, settings, metrics);
  const stop = new AbortController();
  const done = serveWhileLeading(options, settings, {
    leaderElection: options.leaderElection,
    metrics,
    signal: stop.signal,
  });
  const dispose = async () => {
    stop.abort(new Error('stopping'));
    await done;
  };
  return { [Symbol.asyncDispose]: dispose };
}

async function serveWhileLeading(
  options: DhcpOptions,
  settings: DhcpSettings,
  {
    leaderElection,
    metrics,
    signal,
  }: { leaderElection: LeaderElectionOptions; metrics: DhcpMetrics; signal: AbortSignal },
): Promise<void> {
  const { client, clock, log } = options;
  while (!signal.aborted) {
    const leadership = new Leadership({ options: leaderElection, client, clock, log });
    try {
      await leadership.acquire(signal);
      await using running = await serve(options, settings, metrics);
      await leadership.keep(AbortSignal.any([signal, running.givenUp]));
      if (!signal.aborted) running.givenUp.throwIfAborted();
    } catch (error) {
      if (signal.aborted) return;
      log.error({ err: error }, 'DHCP is not answered by this process any more');
      if (error instanceof LeaseLost) continue;
      // Another replica may succeed: this one does not compete for one lease duration.
      await leadership.release();
      await clock.sleep(leaderElection.leaseMs, signal).catch(() => undefined);
      continue;
    }
    // dnsmasq has ended before another replica may start one.
    await leadership.release();
  }
}

interface DhcpMetrics {
  readonly count: ReturnType<typeof countLeases>;
  readonly listening: ListeningMetric;
}

interface RunningDhcp extends AsyncDisposable {
  /** Aborted, with the reason, if dnsmasq does not listen in time. */
  readonly givenUp: AbortSignal;
}

async function serve(
  options: DhcpOptions,
  settings: DhcpSettings,
  { count, listening }: DhcpMetrics,
): Promise<RunningDhcp> {
  const { mode, caches, clock, log, bootTokenKey } = options;
  const stack = new AsyncDisposableStack();
  try {
    await writeConfiguration(mode, settings);
    let dnsmasq: Dnsmasq | undefined;
    const onForget = () => dnsmasq?.reread();
    const hostsWriter = stack.use(new HostsWriter({ caches, settings, bootTokenKey, onForget, clock, log }));
    await hostsWriter.write();
    const events = await receiveLeases(options, settings, { count, stack });
    const configurationFile = join(settings.directory, fileNames.configuration);
    const logReady = () => log.info({ mode, configurationFile }, 'DHCP answers known machines');
    if (mode === 'files') logReady();
    else {
      const onListening = (isListening: boolean) => {
        listening.set(isListening);
        if (isListening) logReady();
      };
      const command = options.command ?? ['dnsmasq'];
      const startupTimeoutMs = options.leaderElection?.leaseMs;
      const leases = () => events.leases;
      dnsmasq = stack.use(
        await Dnsmasq.start({ command, configurationFile, leases, startupTimeoutMs, onListening, clock, log }),
      );
    }
    const givenUp = dnsmasq?.givenUp ?? never;
    const opened = stack.move();
    return { givenUp, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function receiveLeases(
  options: DhcpOptions,
  settings: DhcpSettings,
  { count, stack }: { count: DhcpMetrics['count']; stack: AsyncDisposableStack },
): Promise<LeaseEvents> {
  const { client, caches, isManagementDevice, leaderElection, onSeen, clock, log } = options;
  const { isManagementAddress } = settings;
  const endpoints = stack.use(
    new LeaseEndpoints({ client, caches, isManagementAddress, isManagementDevice, clock, log }),
  );
  const directory = join(settings.directory, fileNames.leaseEvents);
  const onEvent = (event: LeaseEvent) => {
    count(event);
    endpoints.onLeaseEvent(event);
    if (event.event !== 'del') onSeen?.({ ...event, serverName: serverNameOf(event, caches), atMs: clock.now() });
    log.debug({ ...event }, 'lease event');
  };
  const events = stack.use(new LeaseEvents({ directory, onEvent, log }));
  const known = await events.readKnown();
  // An earlier leader may have given the same device another address since.
  if (leaderElection === undefined)
    for (const event of known) if (event.expiresAtMs > clock.now()) endpoints.onLeaseEvent(event);
  return events;
}

const never = new AbortController().signal;

function serverNameOf({ macAddress }: LeaseEvent, caches: MachineCaches): string | undefined {
  const [owner, another] = serversWith(macAddress, caches);
  return another === undefined ? owner?.metadata.name : undefined;
}

/** The directories, and the files that dnsmasq reads at its start. They are world-readable: dnsmasq drops root privileges. */
async function writeConfiguration(mode: DhcpOptions['mode'], settings: DhcpSettings): Promise<void> {
  const { directory } = settings;
  const at = (name: keyof typeof fileNames) => join(directory, fileNames[name]);
  for (const path of [directory, at('hosts'), at('options'), at('leaseEvents')])
    await mkdir(path, { recursive: true, mode: 0o755 });
  await writeFile(at('configuration'), configurationOf(settings, { ownProcess: mode === 'dnsmasq' }));
  await writeFile(at('script'), leaseScript(directory));
  await chmod(at('script'), 0o755);
}
