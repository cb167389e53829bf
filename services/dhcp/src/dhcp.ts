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

/** A machine was given an address: the first thing that is heard of a boot. */
export interface DhcpSeen extends LeaseEvent {
  /** The one server with that MAC address; undefined when none is known, or several are. */
  readonly serverName: string | undefined;
  readonly atMs: number;
}

export interface DhcpOptions {
  /** dnsmasq runs as a child of this process; files: elsewhere, with the files that are written here. */
  readonly mode: 'dnsmasq' | 'files';
  readonly flags: DhcpFlags;
  readonly client: KubeClient;
  readonly caches: MachineCaches;
  readonly bootTokenKey: () => Promise<Uint8Array>;
  /** Does the MAC prefix database know it? */
  readonly isManagementDevice: (mac: string) => boolean;
  /** Called for every lease that is given or renewed; for the trace of boots. Must not throw. */
  readonly onSeen?: ((seen: DhcpSeen) => void) | undefined;
  readonly metrics?: MetricsRegistry | undefined;
  /** Only the holder of the lease answers; without it, this process does. */
  readonly leaderElection?: LeaderElectionOptions | undefined;
  /** The program and what comes before its own arguments. */
  readonly command?: readonly string[] | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Keeps a dnsmasq answering the machines that the API server knows, and hears from it who got which address.
 *
 * Without leader election it answers when this resolves, or tries again and again; with it, as soon as it leads, and a
 * dnsmasq that does not come to listen is left to another replica. Disposing ends dnsmasq.
 * @throws DhcpError when an option or the configuration made of it is not understood.
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
      // Somebody else may succeed where this process does not; it steps back for as long as that takes.
      await leadership.release();
      await clock.sleep(leaderElection.leaseMs, signal).catch(() => undefined);
      continue;
    }
    // Only now, when dnsmasq has ended, another may answer.
    await leadership.release();
  }
}

interface DhcpMetrics {
  readonly count: ReturnType<typeof countLeases>;
  readonly listening: ListeningMetric;
}

interface RunningDhcp extends AsyncDisposable {
  /** Aborted, with the reason, when this process does not come to answer. */
  readonly givenUp: AbortSignal;
}

async function serve(
  options: DhcpOptions,
  settings: DhcpSettings,
  { count, listening }: DhcpMetrics,
): Promise<RunningDhcp> {
  const { mode, caches, clock, log, client, bootTokenKey, isManagementDevice, onSeen } = options;
  const stack = new AsyncDisposableStack();
  try {
    await writeConfiguration(mode, settings);
    let dnsmasq: Dnsmasq | undefined;
    const onForget = () => dnsmasq?.reread();
    const hostsWriter = stack.use(new HostsWriter({ caches, settings, bootTokenKey, onForget, clock, log }));
    await hostsWriter.write();
    const endpoints = stack.use(
      new LeaseEndpoints({
        client,
        caches,
        isManagementAddress: settings.isManagementAddress,
        isManagementDevice,
        clock,
        log,
      }),
    );
    const directory = join(settings.directory, fileNames.leaseEvents);
    const onEvent = (event: LeaseEvent) => {
      count(event);
      endpoints.onLeaseEvent(event);
      if (event.event !== 'del') onSeen?.({ ...event, serverName: serverNameOf(event, caches), atMs: clock.now() });
      log.debug({ ...event }, 'a lease was heard of');
    };
    const events = stack.use(new LeaseEvents({ directory, onEvent, log }));
    const known = await events.readKnown();
    // A replica that led before may have given the same device another address since.
    if (options.leaderElection === undefined)
      for (const event of known) if (event.expiresAtMs > clock.now()) endpoints.onLeaseEvent(event);
    const configurationFile = join(settings.directory, fileNames.configuration);
    const logReady = () => log.info({ mode, configurationFile }, 'DHCP answers known machines');
    if (mode === 'files') logReady();
    else {
      const onListening = (isListening: boolean) => {
        listening.set(isListening);
        if (isListening) logReady();
      };
      const command = options.command ?? ['dnsmasq'];
      const giveUpAfterMs = options.leaderElection?.leaseMs;
      const leases = () => events.leases;
      dnsmasq = stack.use(
        await Dnsmasq.start({
          command,
          configurationFile,
          leases,
          startupTimeoutMs: giveUpAfterMs,
          onListening,
          clock,
          log,
        }),
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

const never = new AbortController().signal;

function serverNameOf({ macAddress }: LeaseEvent, caches: MachineCaches): string | undefined {
  const [owner, another] = serversWith(macAddress, caches);
  return another === undefined ? owner?.metadata.name : undefined;
}

/** The directories and what is read once. dnsmasq gives up the rights of root, so that it must be readable to others. */
async function writeConfiguration(mode: DhcpOptions['mode'], settings: DhcpSettings): Promise<void> {
  const { directory } = settings;
  const at = (name: keyof typeof fileNames) => join(directory, fileNames[name]);
  for (const path of [directory, at('hosts'), at('options'), at('leaseEvents')])
    await mkdir(path, { recursive: true, mode: 0o755 });
  await writeFile(at('configuration'), configurationOf(settings, { ownProcess: mode === 'dnsmasq' }));
  await writeFile(at('script'), leaseScript(directory));
  await chmod(at('script'), 0o755);
}
