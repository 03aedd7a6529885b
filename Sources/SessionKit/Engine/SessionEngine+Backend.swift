import SessionCore

/// Requests to the backend: limited in time, and with the data that the backend may know of the
/// request.
extension SessionEngine {
  /// A request to a backend, as a closure.
  typealias Question<Answer> =
    @Sendable (any AuthBackend) async throws(BackendError) -> Answer

  /// A failed request: its failure, and a detail for the error message.
  struct Failed: Error {
    let failure: RequestFailure
    let detail: String?
  }

  /// Sends one request to the backend.
  ///
  /// The backend of SessionHTTP enforces the time limit itself, unless the app prepares its
  /// requests. Any other backend is cancelled after this time, and its result is not awaited. The
  /// server may have acted.
  func exchange<Answer: Sendable>(
    _ context: RequestContext = RequestContext(), _ question: @escaping Question<Answer>
  ) async -> Result<Answer, BackendError> {
    var context = context
    let limit = context.timeout ?? policy.requestTimeout
    context.timeout = limit
    context.clock = configuration.clock
    let backend = configuration.backend
    if backendKeepsTimeLimit {
      return await RequestContext.$current.withValue(context) {
        do throws(BackendError) { return .success(try await question(backend)) } catch {
          return .failure(error)
        }
      }
    }
    let given = context
    let result = await bounded(by: limit) { () async throws(BackendError) -> Answer in
      let result: Result<Answer, BackendError> =
        await RequestContext.$current.withValue(given) {
          do throws(BackendError) { return .success(try await question(backend)) } catch {
            return .failure(error)
          }
        }
      return try result.get()
    }
    let late = BackendError.noResponse("the backend did not answer in time", mayHaveActed: true)
    return result ?? .failure(late)
  }

  /// Sends one request.
  ///
  /// The failure has the form that decisions and the journal need.
  func request<Answer: Sendable>(
    _ context: RequestContext = RequestContext(), _ question: @escaping Question<Answer>
  ) async -> Result<Answer, Failed> {
    await exchange(context, question).mapError(failed)
  }

  /// Converts an error of the backend to the form that decisions and the journal need.
  func failed(_ error: BackendError) -> Failed {
    Failed(
      failure: error.failure(naming: configuration.backend.errorCodes), detail: error.message)
  }
}

/// The reader for a backend that the app implements, which has no rules for such tokens.
///
/// The tokens are those of an identity SDK, and adopted ones. Their claims are read by the names of
/// OpenID Connect.
struct StandardTokenReader: TokenReader {}
