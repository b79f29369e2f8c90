/** A text of people or programs: all of it if it is short; of a long one the beginning, more when it is asked for, and a file. */
import { brief, download } from "../lib/brief";
import { acts } from "../words/acts";

const SHORT = 2_000;
const LONGEST = 20_000;

export function Long({ text, name = "text" }: { text: string; name?: string }) {
  if (text.length <= SHORT) return <bdi>{text}</bdi>;
  return (
    <details>
      <summary>
        <bdi>{brief(text, 200)}</bdi>
      </summary>
      <bdi>{brief(text, LONGEST)}</bdi>
      {text.length > LONGEST && <Download text={text} name={name} />}
    </details>
  );
}

/** Saves a text of which a page shows a part. */
export function Download({ text, name }: { text: string; name: string }) {
  return (
    <p>
      <button type="button" className="quiet" onClick={() => download(text, `${name}.txt`)}>
        {acts.download}
      </button>
    </p>
  );
}
