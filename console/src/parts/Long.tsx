/** A text of people or programs: all of it if it is short; of a long one the beginning, and the rest when it is asked for. */
const SHORT = 2_000;

export function Long({ text }: { text: string }) {
  if (text.length <= SHORT) return <bdi>{text}</bdi>;
  return (
    <details>
      <summary>
        <bdi>{text.slice(0, 200)} …</bdi>
      </summary>
      <bdi>{text}</bdi>
    </details>
  );
}
