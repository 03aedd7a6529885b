/// A request whose body was read, with what its handling depends on.
struct BackendCall {
  let request: ReceivedRequest
  let body: RequestBody
  let now: Int64
  let settings: LoopbackSettings
}
