import type { Bmc, CallOptions } from '../http/bmc.ts';
import { pathOf } from '../endpoint.ts';
import { RedfishError } from '../errors.ts';
import { task as taskResource, taskMessage, type TaskResource, taskService } from '../update-schemas.ts';
import { readMembers } from './collections.ts';
import { mapConcurrently, undefinedIfMissing } from './members.ts';
import { type Secrets, secretsOf, withoutSecrets } from './secrets.ts';

export interface UpdateProgress {
  /** Gone: the BMC does not know the task, because it restarted, or deletes completed ones. */
  readonly kind: 'Running' | 'Completed' | 'Failed' | 'Gone';
  /** TaskState or JobState, as the BMC writes it. */
  readonly state: string | undefined;
  /** OK, Warning or Critical, as the BMC writes it. */
  readonly status: string | undefined;
  /** 0 to 100. */
  readonly percent: number | undefined;
  /** The last messages of the BMC, in its order, without credentials; at most five of at most 160 characters. */
  readonly messages: readonly string[];
  /** It goes on only after a reset of the machine (or of the BMC, for its own firmware). */
  readonly awaitsReset: boolean;
  readonly name: string | undefined;
  /** Path of the task itself, also when it was asked for by its monitor, or of the job that it became. */
  readonly task: string;
}

export interface UpdateTaskOptions extends CallOptions {
  /** Texts that no message may contain, besides the passwords that this client has sent with updates. */
  readonly secrets?: Secrets | undefined;
}

/**
 * The progress of an update, by its task, its task monitor or its job. A task that completed with warnings is Completed, and its
 * messages tell them; a state that Redfish does not know is Running. @throws RedfishError while the BMC does not answer.
 */
export async function readUpdateTask(bmc: Bmc, task: string, options: UpdateTaskOptions = {}): Promise<UpdateProgress> {
  const call = { ...options, secrets: allSecrets(bmc, options) };
  const { progress, job } = await readOnce(bmc, pathOf(task), call);
  return job === undefined ? progress : (await readOnce(bmc, job, call)).progress;
}

const allSecrets = (bmc: Bmc, { secrets = [] }: UpdateTaskOptions): Secrets => [...secretsOf(bmc), ...secrets];

const maxTasks = 1_000;
/** The last jobs that completed tasks name: older ones are over. */
const maxJobs = 8;

/** Tasks that still run, of updates or of an unknown purpose. Empty when the BMC has no TaskService. */
export async function readRunningUpdates(
  bmc: Bmc,
  options: UpdateTaskOptions = {},
): Promise<readonly UpdateProgress[]> {
  const { path = '', tasks } = (await readKnownTasks(bmc, options)) ?? (await readTasks(bmc, options));
  const secrets = allSecrets(bmc, options);
  const updates = tasks.filter(({ Payload: { TargetUri: uri } }) => uri === undefined || /update|upload|fw/i.test(uri));
  const progress = updates.map((each) => progressOf(each, 200, each['@odata.id'] ?? path, secrets));
  const jobs = updates.flatMap((each) => jobOf(each) ?? []).slice(-maxJobs);
  const ofJobs = await mapConcurrently(
    jobs,
    async (job) => (await readOnce(bmc, job, { ...options, secrets })).progress,
  );
  return [...progress, ...ofJobs].filter(({ kind }) => kind === 'Running');
}

interface Tasks {
  readonly path?: string | undefined;
  readonly tasks: readonly TaskResource[];
}

/** Paths of the tasks, which the TaskService names. */
const collections = new WeakMap<Bmc, string>();

async function readKnownTasks(bmc: Bmc, options: CallOptions): Promise<Tasks | undefined> {
  const path = collections.get(bmc);
  const tasks = path && (await readTasksAt(bmc, path, options));
  return tasks ? { path, tasks } : undefined;
}

async function readTasks(bmc: Bmc, options: CallOptions): Promise<Tasks> {
  const { Tasks: service } = await bmc.root(options);
  const path = service && (await bmc.get(service, taskService, options).catch(undefinedIfMissing))?.Tasks;
  if (path === undefined) return { tasks: [] };
  collections.set(bmc, path);
  return { path, tasks: (await readTasksAt(bmc, path, options)) ?? [] };
}

/** Undefined when there is no such collection. */
async function readTasksAt(bmc: Bmc, path: string, options: CallOptions): Promise<readonly TaskResource[] | undefined> {
  const list = { ...options, maxMembers: maxTasks, onUnreadable: () => undefined };
  return readMembers(bmc, path, taskResource, list).catch(undefinedIfMissing);
}

interface TaskAnswer {
  readonly progress: UpdateProgress;
  /** Path of the job that continues a completed task. */
  readonly job?: string | undefined;
}

async function readOnce(bmc: Bmc, path: string, { secrets, ...call }: UpdateTaskOptions): Promise<TaskAnswer> {
  try {
    const { value, status } = await bmc.read(path, taskResource, { ...call, isSideResource: true });
    const progress = progressOf(value, status, path, secrets);
    return { progress, job: progress.kind === 'Completed' ? jobOf(value) : undefined };
  } catch (error) {
    if (!(error instanceof RedfishError)) throw error;
    if (error.code === 'NotFound') return { progress: { ...unknown, kind: 'Gone', task: path } };
    if (!isResultOfOperation(error)) throw error;
    const messages = shortened([error.message], secrets);
    return { progress: { ...unknown, kind: 'Failed', messages, task: path } };
  }
}

const unknown = {
  state: undefined,
  status: undefined,
  percent: undefined,
  messages: [],
  awaitsReset: false,
  name: undefined,
} as const;

/** A monitor answers like the operation itself when that is over (DSP0266, asynchronous operations). */
const isResultOfOperation = ({ code, status = 0 }: RedfishError): boolean =>
  code === 'HttpError' && status >= 400 && status < 500;

function progressOf(
  resource: TaskResource,
  status: number,
  path: string,
  secrets: Secrets | undefined,
): UpdateProgress {
  const { TaskState, JobState, TaskStatus, JobStatus, PercentComplete, Messages, Name, error } = resource;
  const state = TaskState ?? JobState;
  const infos = messagesIn(state === undefined && error !== undefined ? error['@Message.ExtendedInfo'] : Messages);
  const texts = infos.flatMap(({ Message, MessageId }) => Message ?? MessageId ?? []);
  const isStateless = state === undefined && error === undefined && isTask(path);
  const kind =
    state !== undefined || isStateless ? kindOfState(state, TaskStatus ?? JobStatus) : kindOfAnswer(status, infos);
  const task = state === undefined ? path : pathOf(resource['@odata.id'] ?? path);
  return {
    kind,
    state,
    status: TaskStatus ?? JobStatus,
    percent: PercentComplete === undefined ? undefined : Math.min(100, Math.round(PercentComplete)),
    messages: shortened(texts, secrets),
    awaitsReset: kind === 'Running' && awaitsResetId.test(infos.at(-1)?.MessageId ?? ''),
    name: Name,
    task,
  };
}

const isTask = (path: string): boolean => /\/(?:Tasks|Jobs)\/[^/]+$/.test(path);

type Info = ReturnType<typeof messagesIn>[number];

const messagesIn = (list: readonly unknown[]) => list.flatMap((entry) => taskMessage.safeParse(entry).data ?? []);

/** DMTF's Update and Base registries, and iDRAC's JCP001 "Task successfully scheduled". */
const awaitsResetId = /(?:^|\.)(?:AwaitToActivate|AwaitToUpdate|ResetRequired|JCP001)$/;

/** TaskState and JobState (DMTF's Task 1.7, Job 1.2). */
const kinds: Readonly<Record<string, UpdateProgress['kind']>> = {
  New: 'Running',
  Starting: 'Running',
  Pending: 'Running',
  Running: 'Running',
  Stopping: 'Running',
  Suspended: 'Running',
  Interrupted: 'Running',
  Service: 'Running',
  Cancelling: 'Running',
  UserIntervention: 'Running',
  Continue: 'Running',
  Validating: 'Running',
  Completed: 'Completed',
  Killed: 'Failed',
  Exception: 'Failed',
  Cancelled: 'Failed',
  Invalid: 'Failed',
};

function kindOfState(state: string | undefined, status: string | undefined): UpdateProgress['kind'] {
  const kind = kinds[state ?? ''] ?? 'Running';
  return kind === 'Completed' && status === 'Critical' ? 'Failed' : kind;
}

/** An answer without a state: that of a monitor, or HPE's error envelope, which also tells of success. */
function kindOfAnswer(status: number, infos: readonly Info[]): UpdateProgress['kind'] {
  if (status === 202) return 'Running';
  const isBad = infos.some(({ MessageId = '', MessageSeverity, Severity }) => {
    const severity = MessageSeverity ?? Severity ?? (MessageId.includes('Success') ? 'OK' : 'Critical');
    return severity === 'Critical';
  });
  return isBad ? 'Failed' : 'Completed';
}

/** Path of the job in the message OperationTransitionedToJob of DMTF's Update registry. */
function jobOf({ Messages }: TaskResource): string | undefined {
  const message = messagesIn(Messages).find(({ MessageId = '' }) => MessageId.endsWith('OperationTransitionedToJob'));
  const [job] = message?.MessageArgs ?? [];
  return job === undefined ? undefined : pathOf(job);
}

const maxMessages = 5;
const longestMessage = 160;

function shortened(texts: readonly string[], secrets: Secrets | undefined): string[] {
  return [...new Set(texts)].slice(-maxMessages).map((text) => {
    const line = withoutSecrets(text, secrets).replaceAll(/\s+/g, ' ').trim();
    // A copy: progress may be kept, and a slice would keep the whole response in memory (V8).
    return line.length > longestMessage ? `${Buffer.from(line.slice(0, longestMessage - 1)).toString()}…` : line;
  });
}
