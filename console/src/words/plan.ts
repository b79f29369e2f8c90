/** Texts of plans: what a retry, a rewind or a fork would do. */
export const planWords = {
  retry: "Retry",
  retryText: "It goes on from what failed. What is done stays done.",
  rewind: "Rewind",
  rewindText: "It goes back to this node, and on from there. Results of what came after are dropped.",
  variables: "Variables set back",
  more: (n: number) => `and ${n.toLocaleString()} more`,
  fork: "Fork this execution",
  forkOpen: "Fork …",
  forkHere: "Fork from here …",
  forkFrom: (node: string) => `Fork from ${node}`,
  forkText: "Another execution begins with the results of this one, which stays as it is.",
  kept: "Results it begins with",
  otherInput: "With another input",
  forkDo: "Start the fork",
  runNow: "Go on now",
  retryNow: "Try again now",
};
