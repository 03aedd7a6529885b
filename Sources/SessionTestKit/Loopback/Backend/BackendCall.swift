/// A request with its parsed body, the time and the settings.
struct BackendCall {
  let request: ReceivedRequest
  let body: RequestBody
  let now: Int64
  let settings: LoopbackSettings
}
