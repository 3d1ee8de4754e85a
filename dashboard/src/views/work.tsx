import { palette } from '../colours';
import { bytes, count, percent, seconds } from '../format';
import { Chart } from '../widgets';
import type { ViewProps } from './view';

function Figure(props: { name: string; value: string }) {
  return <div class="figure"><dt>{props.name}</dt><dd>{props.value}</dd></div>;
}

export function Work({ snapshot, history, theme }: ViewProps) {
  const { work, controller, durations_total: durations, queueing_total: queueing } = snapshot;
  const { times } = history.work;
  const of = (name: string) => history.work.of(name);
  const perSecond = (value: number) => `${count(value)}/s`;
  return (
    <>
      <dl class="figures">
        <Figure name="wait for an engine" value={count(work.queued)} />
        <Figure name="on engines" value={count(work.running)} />
        <Figure name="direct, unanswered" value={count(work.direct)} />
        <Figure name="finished per second" value={count(work.finished_rate)} />
        <Figure name="finished" value={count(work.finished_total)} />
        <Figure name="failed" value={count(work.failed_total)} />
        <Figure name="retried" value={count(work.retried_total)} />
        <Figure name="median time" value={durations.count > 0 ? seconds(durations.quantiles['0.5']) : '-'} />
        <Figure name="99 % below" value={durations.count > 0 ? seconds(durations.quantiles['0.99']) : '-'} />
        <Figure name="median wait" value={queueing.count > 0 ? seconds(queueing.quantiles['0.5']) : '-'} />
        <Figure name="controller's CPU" value={percent(controller.cpu_share)} />
        <Figure name="controller's memory" value={bytes(controller.memory)} />
      </dl>
      <Chart title="Requests" times={times} theme={theme} show={count} lines={[
        { label: 'wait for an engine', colour: palette[1], values: of('queued') },
        { label: 'on engines', colour: palette[2], values: of('running') },
        { label: 'direct, unanswered', colour: palette[0], dash: [6, 4], values: of('direct') }
      ]} />
      <Chart title="Rate" times={times} theme={theme} show={perSecond} lines={[
        { label: 'submitted', colour: palette[0], dash: [6, 4], values: of('submitted') },
        { label: 'finished', colour: palette[2], values: of('finished') }
      ]} />
      <Chart title="Times since the start of the controller" times={times} theme={theme} show={seconds} lines={[
        { label: 'median', colour: palette[0], values: of('median') },
        { label: '99 % below', colour: palette[5], dash: [6, 4], values: of('slow') },
        { label: 'median wait for an engine', colour: palette[1], dash: [2, 3], values: of('queueing') }
      ]} />
    </>
  );
}
