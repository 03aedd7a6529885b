import SessionCore

/// Asking the backend: bounded in time, and with what it may know of the request.
extension SessionEngine {
  /// What is asked of a backend.
  typealias Question<Answer> =
    @Sendable (any AuthBackend) async throws(BackendError) -> Answer

  /// A request that failed, and what its numbers cannot say.
  struct Failed: Error {
    let failure: RequestFailure
    let detail: String?
  }

  /// Asks the backend once.
  ///
  /// The backend of SessionHTTP keeps the time limit itself, unless the app prepares its requests. Any other
  /// backend is cancelled after this time, and not waited for: the server may have acted.
  func exchange<Answer: Sendable>(
    _ context: RequestContext = RequestContext(), _ question: @escaping Question<Answer>
  ) async -> Result<Answer, BackendError> {
    var context = context
    let limit = context.timeout ?? policy.requestTimeout
    context.timeout = limit
    let backend = configuration.backend
    if let detailed = backend as? any DetailedBackend, detailed.keepsTimeLimit {
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

  /// The same, with the failure for decisions and the journal.
  func request<Answer: Sendable>(
    _ context: RequestContext = RequestContext(), _ question: @escaping Question<Answer>
  ) async -> Result<Answer, Failed> {
    await exchange(context, question).mapError(failed)
  }

  /// What an error of the backend is for decisions and the journal.
  func failed(_ error: BackendError) -> Failed {
    Failed(
      failure: error.failure(naming: configuration.backend.errorCodes), detail: error.message)
  }
}

extension SessionConfiguration {
  /// Reads tokens that do not come in a response: those of an identity SDK, and those that are adopted.
  ///
  /// A backend of the app's own says nothing of them: their claims are read by the names of OpenID Connect.
  var tokenReader: any TokenReader {
    backend as? any DetailedBackend ?? StandardTokenReader()
  }
}
