import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

const working = { remedy: 'Nothing.', weight: 'working', actor: 'operator' } as const;
const ok = { remedy: 'Nothing.', weight: 'ok', actor: 'operator' } as const;

/** The reasons of one kind of set; `plural` and `children` are the resources in commands. */
export function setReasonsOf<Plural extends string, Children extends string>(plural: Plural, children: Children) {
  return {
    InvalidSelector: {
      meaning: 'The selector of the set is faulty. Nothing is created, changed or deleted.',
      remedy: 'Correct the selector; the message quotes what is wrong.',
      weight: 'needsPerson',
      actor: 'person',
      command: `kubectl edit ${plural} {name}`,
    },
    TemplateMissing: {
      meaning: 'The set has no template, so there is nothing to create.',
      remedy: 'Add the template to the spec.',
      weight: 'needsPerson',
      actor: 'person',
      command: `kubectl edit ${plural} {name}`,
    },
    SetIgnored: {
      meaning: 'The annotation operation=ignore-child-and-self pauses the set and its objects.',
      remedy: 'Remove the annotation to continue.',
      weight: 'waiting',
      actor: 'person',
      command: `kubectl annotate ${plural} {name} metal.ironcore.dev/operation-`,
    },
    ChildrenIgnored: {
      meaning: 'The annotation operation=ignore-child pauses the objects of the set.',
      remedy: 'Remove the annotation to continue.',
      weight: 'waiting',
      actor: 'person',
      command: `kubectl annotate ${plural} {name} metal.ironcore.dev/operation-`,
    },
    IgnoringChildren: { ...working, meaning: 'The objects of the set are being paused.' },
    ResumingChildren: { ...working, meaning: 'The objects of the set are being continued.' },
    DeletingChildren: { ...working, meaning: 'Objects of targets that are not selected any more are being deleted.' },
    CreatingChildren: { ...working, meaning: 'An object is being created for each selected target.' },
    UpdatingChildren: { ...working, meaning: 'A change of the template is being copied to the objects.' },
    HoldingChildren: {
      ...working,
      meaning: 'Objects that are done or failed are being held, so that a correction or retry waits for the rollout.',
    },
    RetryingChildren: { ...working, meaning: 'The failed objects of the set get a retry.' },
    StartingChildren: { ...working, meaning: 'The rollout lets the next objects begin.' },
    WaveStarted: { ...working, meaning: 'The first objects of a wave of the rollout begin.' },
    RolloutInProgress: {
      meaning: 'The changes of the set are being made.',
      remedy: 'Nothing; status.rollout has the progress.',
      weight: 'working',
      actor: 'operator',
    },
    NothingInProgress: { ...ok, meaning: 'No object of the set is in progress or waits.' },
    TargetsTaken: {
      meaning: 'Selected targets belong to an older set of this kind, or to an object that no set created.',
      remedy: 'Narrow one of the selectors, or delete the object that the message names.',
      weight: 'needsPerson',
      actor: 'person',
      command: `kubectl get ${children} --show-labels`,
    },
    SetContested: {
      meaning: 'Another object concerns targets of the set. The oldest set has them; an object without a set stays.',
      remedy: 'Narrow one of the selectors, or delete the object that the message names.',
      weight: 'needsPerson',
      actor: 'person',
      command: `kubectl get ${plural}`,
    },
    NotContested: { ...ok, meaning: 'No other object concerns the targets of the set.' },
    NameTaken: {
      meaning: 'An object with the name that the set needs exists, and the set did not create it. It is not changed.',
      remedy: 'Delete or rename the object that the message names.',
      weight: 'needsPerson',
      actor: 'person',
      command: `kubectl get ${children}`,
    },
    RolloutPaused: {
      meaning: 'spec.rollout.paused is true: nothing more starts. What is in progress is completed.',
      remedy: 'Set it to false to continue.',
      weight: 'waiting',
      actor: 'person',
      command: `kubectl edit ${plural} {name}`,
    },
    RolloutStopped: {
      meaning: 'As many objects failed as spec.rollout.maxFailures allows: nothing more starts.',
      remedy: 'Correct the cause, then annotate the set with operation=retry-child, or raise maxFailures.',
      weight: 'failed',
      actor: 'person',
      command: `kubectl annotate ${plural} {name} metal.ironcore.dev/operation=retry-child`,
    },
    MaxUnavailableZero: {
      meaning: 'spec.rollout.maxUnavailable is 0: nothing starts.',
      remedy: 'Raise it to start.',
      weight: 'waiting',
      actor: 'person',
      command: `kubectl edit ${plural} {name}`,
    },
    BMCTooLarge: {
      meaning: 'The next BMC has more servers than spec.rollout.maxUnavailable allows.',
      remedy: 'Raise maxUnavailable to the number of its servers.',
      weight: 'needsPerson',
      actor: 'person',
      command: `kubectl edit ${plural} {name}`,
    },
    CanaryInProgress: {
      meaning: 'The first targets are done one by one; the others wait for them (spec.rollout.canary).',
      remedy: 'Nothing; if it lasts, see the object that the message names.',
      weight: 'waiting',
      actor: 'operator',
    },
    MaxUnavailableReached: {
      meaning: 'As many servers as spec.rollout.maxUnavailable allows are in maintenance or about to be.',
      remedy: 'Nothing; if it lasts, see status.rollout.running, for example for approvals that are missing.',
      weight: 'waiting',
      actor: 'operator',
    },
    TopologyInProgress: {
      meaning: 'Targets with an earlier value of the label spec.rollout.topologyKey are not done yet.',
      remedy: 'Nothing; status.rollout.running names them.',
      weight: 'waiting',
      actor: 'operator',
    },
    NotCompared: {
      meaning: 'Targets could not be compared with what is desired; they do not start, and do not hold up others.',
      remedy: 'See the condition Ready of their objects, which has the cause.',
      weight: 'waiting',
      actor: 'operator',
    },
    ChildrenFailed: {
      meaning: 'Objects of the set failed, and nothing else is left to do.',
      remedy: 'Correct the cause, then annotate the set with operation=retry-child.',
      weight: 'failed',
      actor: 'person',
      command: `kubectl annotate ${plural} {name} metal.ironcore.dev/operation=retry-child`,
    },
    ChildrenAtWork: {
      meaning: 'The set is being deleted, and waits for objects that change a machine.',
      remedy: 'Nothing; if it lasts, see the objects that the message names.',
      weight: 'working',
      actor: 'operator',
    },
    NothingSelected: {
      meaning: 'The selector matches nothing at present.',
      remedy: 'Compare the selector with the labels of the servers or BMCs.',
      weight: 'needsPerson',
      actor: 'person',
      command: 'kubectl get servers,bmcs --show-labels',
    },
    DryRun: { ...ok, meaning: 'spec.dryRun is true: the targets are only compared; status.plan has the result.' },
    SetComplete: { ...ok, meaning: 'All selected targets are as desired.' },
    AllComply: { ...ok, meaning: 'All selected targets are as desired.' },
    Deviating: {
      meaning: 'Selected targets are not as desired; the message names the first.',
      remedy: 'Nothing while the rollout is in progress; else see the objects of these targets.',
      weight: 'waiting',
      actor: 'operator',
    },
  } as const satisfies ReasonCatalogue;
}

export type SetReason = keyof ReturnType<typeof setReasonsOf>;
