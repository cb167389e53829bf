import { X509Certificate } from 'node:crypto';
import { Access, type Session } from './access.ts';
import { settingsPlaces } from './attributes/attribute-resources.ts';
import type { AttributeValues } from './attributes/attribute-set.ts';
import { addPending } from './attributes/attribute-writes.ts';
import { ManagerSettings } from './attributes/manager-settings.ts';
import type { BmcState } from './bmc-state.ts';
import type { Clock } from './clock.ts';
import { RequestHandler } from './request-handler.ts';
import { Firmware, type FlashRecord } from './firmware.ts';
import { FaultBoard, type FaultLimit, type Faults } from './faults.ts';
import { root } from './links.ts';
import { Listener, type TlsIdentity } from './listener.ts';
import type { Machine } from './machine.ts';
import type { VendorProfile } from './profiles.ts';
import { type BmcEvent, deliver } from './events.ts';
import { SimulatedShell } from './shell.ts';
import { type Peer, type RequestRecord, Traffic } from './traffic.ts';

export interface BmcOptions {
  readonly profile: VendorProfile;
  /** The systems of the BMC, at least one. */
  readonly machines: readonly [Machine, ...Machine[]];
  readonly address: string;
  readonly macAddress: string;
  readonly managerUuid: string;
  readonly username: string;
  readonly password: string;
  readonly clock: Clock;
  readonly latencyMs: number;
  /** Duration of a restart of the BMC itself. */
  readonly restartMs: number;
  /** Duration of the installation of a firmware. */
  readonly flashMs: number;
  /** Certificate and key; plain HTTP without them. */
  readonly identity: TlsIdentity | undefined;
  /** The certificate of the fault `untrusted`. */
  readonly untrustedIdentity: (() => Promise<TlsIdentity>) | undefined;
  /** Sends its events, and fetches firmware images. */
  readonly fetch: typeof globalThis.fetch;
}

/**
 * A BMC on its own loopback address, with Redfish over real HTTP. Faults are methods; without a limit they last until
 * `heal`.
 */
export class SimulatedBmc implements BmcState {
  readonly profile: VendorProfile;
  readonly machines: readonly [Machine, ...Machine[]];
  readonly address: string;
  readonly macAddress: string;
  readonly managerUuid: string;
  /** Undefined with plain HTTP. */
  readonly identity: TlsIdentity | undefined;
  readonly access: Access;
  readonly board: FaultBoard;
  readonly traffic = new Traffic();
  readonly settings = new ManagerSettings();
  readonly subscriptions = new Map<string, Record<string, unknown>>();
  /** Reset types requested of the BMC itself over Redfish, in order. */
  readonly resets: string[] = [];
  #shell: SimulatedShell | undefined;
  #firmware: Firmware | undefined;
  sessionsOffered: boolean;
  /** Milliseconds since the Unix epoch. */
  restartedAt: number;
  readonly #options: BmcOptions;
  readonly #listener: Listener;
  readonly #requestHandler: RequestHandler;
  #subscriptionCount = 0;
  #port = 0;
  #isClosed = false;
  #listening: Promise<void> = Promise.resolve();

  constructor(options: BmcOptions) {
    const { profile, clock, username, password, address, identity } = options;
    this.#options = options;
    this.profile = profile;
    this.machines = options.machines;
    this.address = address;
    this.macAddress = options.macAddress;
    this.managerUuid = options.managerUuid;
    this.identity = identity;
    this.restartedAt = clock.now();
    this.sessionsOffered = profile.sessionCap !== undefined;
    this.access = new Access(clock, profile, { username, password });
    this.board = new FaultBoard(clock, (name) => this.#onFaultEnd(name));
    this.#requestHandler = new RequestHandler(this, clock, options.latencyMs);
    this.#listener = new Listener({
      address,
      identity,
      handle: (request, response) => void this.#requestHandler.handle(request, response),
      onConnection: (socket) => this.#requestHandler.recordConnection(socket),
    });
  }

  /** The first of its machines. */
  get machine(): Machine {
    return this.machines[0];
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `${this.identity === undefined ? 'http' : 'https'}://${this.address}:${this.#port}`;
  }

  get username(): string {
    return this.access.first?.username ?? '';
  }

  get password(): string {
    return this.access.first?.password ?? '';
  }

  /** Changes the password at the BMC. Sessions stay open. */
  set password(password: string) {
    const account = this.access.first;
    if (account !== undefined) account.password = password;
  }

  /** SHA-256 of its certificate, as colon-separated hex; undefined without HTTPS. */
  get fingerprint(): string | undefined {
    return this.identity === undefined ? undefined : new X509Certificate(this.identity.certificatePem).fingerprint256;
  }

  get sessions(): readonly Session[] {
    return this.access.sessions;
  }

  get openSessions(): number {
    return this.access.sessions.length;
  }

  /** Every request, newest last; the oldest are dropped. */
  get requests(): readonly RequestRecord[] {
    return this.traffic.requests;
  }

  /** Connections that were opened, newest last; the oldest are dropped. */
  get peers(): readonly Readonly<Peer>[] {
    return this.traffic.peers;
  }

  /** Made on its first use. @throws TypeError for a BMC without an UpdateService. */
  get firmware(): Firmware {
    const { profile, machines, board } = this;
    const { clock, flashMs } = this.#options;
    const { firmware: rules } = profile;
    if (rules === undefined) throw new TypeError('this BMC updates no firmware');
    const restart = () => this.restart();
    this.#firmware ??= new Firmware({ profile, rules, machines, board, clock, flashMs, restart });
    return this.#firmware;
  }

  get firmwareVersion(): string {
    return this.#firmware?.bmcVersion ?? this.profile.firmwareVersion;
  }

  /** Every firmware that the BMC began to install, in order. */
  get flashes(): readonly FlashRecord[] {
    return this.#firmware?.flashes ?? [];
  }

  get fetch(): typeof globalThis.fetch {
    return this.#options.fetch;
  }

  get faults(): Readonly<Faults> {
    return this.board.current;
  }

  /** The active faults. */
  get activeFaults(): Partial<Faults> {
    return this.board.active;
  }

  /** Listens on its address. Port 0 takes a free one. */
  async listen(port: number): Promise<number> {
    this.#port = await this.#listener.open(port);
    return this.#port;
  }

  /** Its SSH shell. @throws TypeError for a BMC without an open shell. */
  get shell(): SimulatedShell {
    if (this.#shell === undefined) throw new TypeError('this BMC has no shell; start the fleet with shells');
    return this.#shell;
  }

  /** Starts the SSH shell. Port 0 takes a free one. */
  async openShell(port: number): Promise<void> {
    this.#shell = new SimulatedShell(this);
    await this.#shell.open(port);
  }

  /** Closes the BMC permanently. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#shell?.close();
    this.board.endAll();
    this.#requestHandler.resume();
    await this.#listener.close();
  }

  /** Sets several faults, except those that change the socket, which have methods of their own. */
  set(faults: Partial<Omit<Faults, 'refuses' | 'untrusted'>>, limit: FaultLimit = {}): void {
    this.board.set(faults, limit);
    if (faults.hang === false) this.#requestHandler.resume();
  }

  latency(ms: number, limit?: FaultLimit): void {
    this.board.set({ latencyMs: ms }, limit);
  }

  /** Accepts requests and answers them when the fault ends. */
  hang(limit?: FaultLimit): void {
    this.board.set({ hang: true }, limit);
  }

  hangFor(forMs: number): void {
    this.hang({ forMs });
  }

  /** Closes the listening socket: connections are refused. */
  async refuse(limit?: FaultLimit): Promise<void> {
    this.board.set({ refuses: true }, limit);
    await this.#syncListener();
  }

  answer(status: number, limit?: FaultLimit): void {
    this.board.set({ status }, limit);
  }

  cutConnections(limit?: FaultLimit): void {
    this.board.set({ cutsConnections: true }, limit);
  }

  /** Carries out writes and answers them with this status, or not at all (0). */
  failWriteResponses(status: number, limit?: FaultLimit): void {
    this.board.set({ failsWriteResponses: status }, limit);
  }

  /** Sends responses slowly. */
  drip(pauseMs: number, limit?: FaultLimit): void {
    this.board.set({ dripMs: pauseMs }, limit);
  }

  truncate(limit?: FaultLimit): void {
    this.board.set({ truncates: true }, limit);
  }

  answerGarbage(limit?: FaultLimit): void {
    this.board.set({ answersGarbage: true }, limit);
  }

  ignoreOverride(limit?: FaultLimit): void {
    this.board.set({ ignoresOverride: true }, limit);
  }

  /** Accepts resets without an effect. */
  freezePower(limit?: FaultLimit): void {
    this.board.set({ powerNeverChanges: true }, limit);
  }

  ignoreShutdown(limit?: FaultLimit): void {
    this.board.set({ ignoresShutdown: true }, limit);
  }

  /** Accepts new passwords and truncates them. */
  manglePasswords(limit?: FaultLimit): void {
    this.board.set({ manglesPasswords: true }, limit);
  }

  /** Reports another UUID; null reports none. */
  reportUuid(uuid: string | null, limit?: FaultLimit): void {
    this.board.set({ uuid }, limit);
  }

  /** Reports a fault of the hardware; null reports no health. */
  reportHealth(health: 'Warning' | 'Critical' | null, limit?: FaultLimit): void {
    this.board.set({ health }, limit);
  }

  /** Presents a certificate that the fleet's CA has not signed. */
  async showUntrustedCertificate(limit?: FaultLimit): Promise<void> {
    this.board.set({ untrusted: true }, limit);
    await this.#syncCertificate();
  }

  /** Rejects changes of this attribute. */
  rejectAttribute(name: string, limit?: FaultLimit): void {
    this.board.set({ rejectsAttribute: name }, limit);
  }

  /** Settings that are set from now on are forgotten at the next start, of the machine or of the BMC. */
  dropPendingSettings(limit?: FaultLimit): void {
    this.board.set({ dropsPendingSettings: true }, limit);
  }

  /** Settings that are set from now on stay pending for ever. */
  keepPendingSettings(limit?: FaultLimit): void {
    this.board.set({ keepsPendingSettings: true }, limit);
  }

  /** Settings objects list all attributes. */
  mirrorSettings(limit?: FaultLimit): void {
    this.board.set({ mirrorsSettings: true }, limit);
  }

  /** BIOS settings of somebody else, for the next start of the machine. Any name and value. */
  setPendingBios(values: AttributeValues, machine: Machine = this.machine): void {
    for (const place of settingsPlaces(this)) if (place.machine === machine) addPending(this, place, values);
  }

  /** Settings of somebody else, for the next start of the BMC; on an iDRAC in the first group that has the attribute. */
  setPendingManager(values: AttributeValues): void {
    const places = settingsPlaces(this).filter(({ machine }) => machine === undefined);
    for (const [name, value] of Object.entries(values)) {
      const place = places.find(({ set }) => set.attributes.some((each) => each.name === name)) ?? places[0];
      if (place !== undefined) addPending(this, place, { [name]: value });
    }
  }

  /** Deletes every session, as after a restart of the BMC. */
  dropSessions(): void {
    this.access.dropSessions();
  }

  /** Closes every connection once, as a firewall that lost its state. */
  dropConnections(): void {
    this.#listener.cut();
  }

  /** Restarts the BMC itself: unreachable for a while, without its sessions; the machines are not affected. */
  restart(): void {
    const { clock } = this.#options;
    const restartMs = this.#firmware?.onRestart() ?? this.#options.restartMs;
    this.dropSessions();
    this.settings.restart();
    this.restartedAt = clock.now() + restartMs;
    void this.refuse({ forMs: restartMs });
  }

  /** Resets the configuration to defaults, except the accounts, as if they had been restored. */
  factoryReset(): void {
    this.subscriptions.clear();
    this.settings.reset();
    this.restart();
  }

  /** Sends an event to the subscribers; resolves with the statuses of their responses, 0 for an unreachable one. */
  sendEvent(event: BmcEvent): Promise<number[]> {
    return deliver([...this.subscriptions.values()], event, this.#options.fetch);
  }

  /** Resolves when its socket matches the faults: a fault that expires takes a moment. */
  async whenStable(): Promise<void> {
    await this.#listening;
  }

  /** Ends all faults and listens again. */
  async heal(): Promise<void> {
    this.board.endAll();
    this.#requestHandler.resume();
    await this.#syncListener();
    if (this.identity !== undefined) await this.#syncCertificate();
  }

  /** The UUID that the system reports. */
  uuidOf(machine: Machine): string | null {
    if (this.faults.anonymous) return null;
    const reported = this.board.consume('uuid', `${root}/Systems/${machine.systemId}`);
    return reported === undefined ? machine.hardware.uuid : reported;
  }

  addSubscription(subscription: Record<string, unknown>): string {
    this.#subscriptionCount += 1;
    const id = String(this.#subscriptionCount);
    this.subscriptions.set(id, subscription);
    return id;
  }

  #onFaultEnd(name: keyof Faults): void {
    if (name === 'hang') this.#requestHandler.resume();
    if (name === 'refuses') this.#syncListener().catch(() => undefined);
    if (name === 'untrusted') this.#syncCertificate().catch(() => undefined);
  }

  /** Opens or closes the socket according to the faults, one change after the other. */
  #syncListener(): Promise<void> {
    const next = this.#listening.then(async () => {
      const shouldListen = !this.#isClosed && !this.faults.refuses;
      if (shouldListen && !this.#listener.isOpen && this.#port !== 0) await this.#listener.open(this.#port);
      else if (!shouldListen) await this.#listener.close();
    });
    this.#listening = next.catch(() => undefined);
    return next;
  }

  async #syncCertificate(): Promise<void> {
    const { identity, untrustedIdentity } = this.#options;
    if (identity === undefined || untrustedIdentity === undefined || this.#isClosed) return;
    this.#listener.identify(this.faults.untrusted ? await untrustedIdentity() : identity);
  }
}
