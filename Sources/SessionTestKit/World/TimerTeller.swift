import SessionKit

/// The world's clock for one session; it records when timers are set and when they fire.
struct TimerTeller: SessionClock {
  let clock: ManualClock
  let start: Int64
  let scheduler: SimulatedScheduler
  let choices: Choices
  let session: String

  func now() -> ClockReading { clock.now() }

  func sleep(until deadline: Duration) async throws(CancellationError) {
    let timer = "\(session)'s timer"
    scheduler.renameCurrent(timer)
    choices.tellSchedule("\(timer) is set to \(deadline.milliseconds(atLeast: .min) - start) ms")
    try await clock.sleep(until: deadline)
    choices.tellSchedule("\(timer) fires")
  }
}
