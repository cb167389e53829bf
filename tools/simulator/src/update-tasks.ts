import type { BmcState } from './bmc-state.ts';
import { at, collection, root } from './links.ts';
import { failure, type Reply, type Resource } from './replies.ts';
import { biosResetTask, biosResetTaskAt } from './system-parts.ts';
import type { UpdateTask } from './update-task.ts';

const taskServicePath = `${root}/TaskService`;
const tasksPath = `${taskServicePath}/Tasks`;
const monitorsPath = `${taskServicePath}/TaskMonitors`;
const jobsPath = `${root}/JobService/Jobs`;

export function taskService(bmc: BmcState, path: string, [kind, id, ...rest]: readonly string[]): Resource | undefined {
  if (rest.length > 0) return undefined;
  if (kind === undefined)
    return {
      '@odata.id': path,
      '@odata.type': '#TaskService.v1_2_1.TaskService',
      Id: 'TaskService',
      Name: 'Task Service',
      ServiceEnabled: true,
      Tasks: at(tasksPath),
    };
  if (kind !== 'Tasks') return undefined;
  if (id === undefined) return collection(path, taskIds(bmc), 'Task');
  const task = taskOf(bmc, id);
  return task === undefined ? biosResetTask(bmc, path) : taskResource(bmc, task);
}

function taskIds(bmc: BmcState): string[] {
  const resets = bmc.profile.biosReset === 'task' ? bmc.machines.filter(({ biosReset }) => biosReset !== 'none') : [];
  const updates = bmc.profile.firmware === undefined ? [] : bmc.firmware.tasks.map(({ id }) => id);
  return [...updates, ...resets.map((machine) => biosResetTaskAt(machine).split('/').at(-1) ?? '')];
}

const taskOf = (bmc: BmcState, id: string): UpdateTask | undefined =>
  bmc.profile.firmware === undefined ? undefined : bmc.firmware.tasks.find((task) => task.id === id);

/** Job of a task, on BMCs whose tasks become jobs. */
export function jobResource(bmc: BmcState, path: string): Resource | undefined {
  const task = bmc.profile.firmware?.becomesJob === true ? taskOf(bmc, path.split('/').at(-1) ?? '') : undefined;
  if (task === undefined || path !== `${jobsPath}/${task.id}`) return undefined;
  return {
    '@odata.id': path,
    '@odata.type': '#Job.v1_2_5.Job',
    Id: task.id,
    Name: 'Firmware Update',
    JobState: task.state,
    JobStatus: task.status,
    PercentComplete: task.percent,
    Messages: messagesOf(task),
  };
}

function taskResource({ profile }: BmcState, task: UpdateTask): Resource {
  const isJob = profile.firmware?.becomesJob === true && task.state !== 'New';
  const transition = {
    MessageId: 'Update.1.2.OperationTransitionedToJob',
    Message: 'The update operation has transitioned to a job.',
    MessageArgs: [`${jobsPath}/${task.id}`],
  };
  return {
    '@odata.id': `${tasksPath}/${task.id}`,
    '@odata.type': '#Task.v1_7_4.Task',
    Id: task.id,
    Name: 'Firmware Update',
    TaskState: isJob ? 'Completed' : task.state,
    TaskStatus: isJob ? 'OK' : task.status,
    PercentComplete: isJob ? 100 : task.percent,
    TaskMonitor: `${monitorsPath}/${task.id}`,
    StartTime: new Date(task.startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
    Payload: { HttpOperation: 'POST', TargetUri: task.targetUri },
    Messages: isJob ? [{ ...messageType, ...transition }] : messagesOf(task),
  };
}

const messageType = { '@odata.type': '#Message.v1_2_1.Message' };

const messagesOf = ({ messages, status }: UpdateTask): Resource[] =>
  messages.map(({ id, text, args }) => ({
    ...messageType,
    MessageId: id,
    Message: text,
    ...(args === undefined ? {} : { MessageArgs: args }),
    MessageSeverity: status,
  }));

/** The response of a task monitor; undefined for other paths. */
export function monitorReply(bmc: BmcState, path: string): Reply | undefined {
  const task = path.startsWith(`${monitorsPath}/`) ? taskOf(bmc, path.slice(monitorsPath.length + 1)) : undefined;
  if (task === undefined) return undefined;
  if (!task.isOver) return { status: 202, body: taskResource(bmc, task), headers: { location: path } };
  const text = task.messages.map((message) => message.text).join(' ');
  if (task.state === 'Exception') return failure(400, 'GeneralError', text);
  return bmc.profile.firmware?.accepts === 'taskMonitor' ? failure(200, 'Success', text) : { status: 204 };
}

/** The response to an accepted update, in the manner of the vendor. */
export function acceptedReply(bmc: BmcState, task: UpdateTask): Reply {
  const body = taskResource(bmc, task);
  const location = `${tasksPath}/${task.id}`;
  switch (bmc.profile.firmware?.accepts) {
    case 'location':
      return { status: 202, headers: { location } };
    case 'taskMonitor':
    case 'body':
      return { status: 202, body };
    case 'accepted':
      return { ...failure(202, 'Accepted', 'The request is accepted.'), headers: { location } };
    case 'monitor':
      return { status: 202, body, headers: { location: `https://bmc.internal${monitorsPath}/${task.id}` } };
    case 'task':
    case undefined:
      return { status: 202, body, headers: { location } };
  }
}
