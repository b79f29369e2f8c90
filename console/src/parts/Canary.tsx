/** A batch that is first tried on a few: how many, and for how long they are watched. */
import { useState } from "react";
import { acts } from "../words/acts";

const words = acts.canary;

/** What a batch takes as its canary, and the fields for it. */
export function useCanary(): [{ share: string; watch: string } | null, React.ReactNode] {
  const [isOn, setOn] = useState(false);
  const [share, setShare] = useState("5%");
  const [watch, setWatch] = useState("10m");
  const fields = (
    <fieldset className="canary">
      <label className="choice">
        <input type="checkbox" checked={isOn} onChange={(e) => setOn(e.target.checked)} /> {words.label}
      </label>
      {isOn && (
        <>
          <div className="pair">
            <div className="field">
              <label htmlFor="canary-share">{words.share}</label>
              <select id="canary-share" value={share} onChange={(e) => setShare(e.target.value)}>
                {["1%", "5%", "10%", "25%", "50%"].map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            </div>
            <div className="field">
              <label htmlFor="canary-watch">{words.watch}</label>
              <select id="canary-watch" value={watch} onChange={(e) => setWatch(e.target.value)}>
                {Object.entries(words.watches).map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </div>
          </div>
          <p className="soft">{words.hint}</p>
        </>
      )}
    </fieldset>
  );
  return [isOn ? { share, watch } : null, fields];
}
