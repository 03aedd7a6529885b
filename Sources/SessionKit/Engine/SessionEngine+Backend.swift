import SessionCore

/// Requests to the backend: limited in time, and with the data that the backend may know of the
/// request.
extension SessionEngine {
  /// A request to a backend, as a closure.
  typealias Question<Answer> =
    @Sendable (any AuthBackend, RequestContext) async throws(BackendError) -> Answer

  /// A failed request: its failure, and a detail for the error message.
  struct Failed: Error {
    let failure: RequestFailure
    let detail: String?
  }

  /// What the session may expect of the backend.
  nonisolated var traits: BackendTraits { configuration.backend.traits }

  /// Returns what the backend may know of a request; `limit` is its time limit in milliseconds.
  func context(limit: Int64? = nil) -> RequestContext {
    var context = RequestContext(timeout: .milliseconds(limit ?? policy.requestTimeout))
    context.clock = configuration.clock
    return context
  }

  /// Sends one request to the backend.
  ///
  /// The backend of SessionHTTP enforces the time limit itself, unless the app prepares its
  /// requests. Any other backend is cancelled after this time, and its result is not awaited. The
  /// server may have acted.
  func exchange<Answer: Sendable>(
    _ context: RequestContext, _ question: @escaping Question<Answer>
  ) async -> Result<Answer, BackendError> {
    let backend = configuration.backend
    if backend.traits.keepsTimeLimit {
      do throws(BackendError) { return .success(try await question(backend, context)) } catch {
        return .failure(error)
      }
    }
    let result = await bounded(by: context.timeout.wholeMilliseconds) {
      () async throws(BackendError) -> Answer in try await question(backend, context)
    }
    let late = BackendError.noResponse("the backend did not answer in time", mayHaveActed: true)
    return result ?? .failure(late)
  }

  /// Sends one request.
  ///
  /// The failure has the form that decisions and the journal need.
  func request<Answer: Sendable>(
    _ context: RequestContext, _ question: @escaping Question<Answer>
  ) async -> Result<Answer, Failed> {
    await exchange(context, question).mapError(failed)
  }

  /// Converts an error of the backend to the form that decisions and the journal need.
  func failed(_ error: BackendError) -> Failed {
    Failed(
      failure: error.failure(naming: configuration.backend.errorCodes), detail: error.message)
  }
}
