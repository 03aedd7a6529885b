@_spi(Internals) internal import SessionCore

/// A check of payloads of any kind: each decodes or is an error, and decoding is stable.
public enum PayloadTarget {
  /// Checks one input: a byte of kind, eight of sequence, as in a frame, and the payload.
  public static func check(_ input: [UInt8]) {
    guard input.count >= 9 else { return }
    let (kind, sequence) = (input[0], input.number(1, 8))
    let payload = Array(input.dropFirst(9))
    let record: SessionRecord
    do throws(CodecError) {
      record = try SessionCodec.decode(sequence: sequence, kind: kind, payload: payload)
    } catch {
      return require(!error.description.isEmpty, "an error without words")
    }
    require(record.sequence == sequence, "seq \(sequence) became \(record.sequence)")
    let (ownKind, own) = SessionCodec.encode(record.content, at: record.time)
    require(ownKind == kind, "kind \(kind) became \(ownKind)")
    if case .unknown(let unknown) = record.content {
      require(own == payload, "an unknown kind came back otherwise")
      require(unknown.isIgnorable == (kind & 0x80 != 0), "kind \(kind) is \(unknown.isIgnorable)")
    }
    do throws(CodecError) {
      let again = try SessionCodec.decode(sequence: sequence, kind: ownKind, payload: own)
      require(
        again.time == record.time && again.content == record.content,
        "decoded twice, \(record) is \(again)")
      let bytes = SessionCodec.encode(again.content, at: again.time).payload
      require(bytes == own, "encoded twice, it is other bytes")
    } catch {
      finding("what was decoded and encoded is an error: \(error)")
    }
    // No record of a journal has the sequence 0.
    if sequence > 0 { checkFold(record) }
  }

  /// Checks that folding succeeds or throws, and that a resulting snapshot decodes.
  private static func checkFold(_ record: SessionRecord) {
    var fold = SessionFold()
    do throws(SessionFold.Failure) {
      try fold.apply(record)
    } catch {
      require(!error.description.isEmpty, "a failure without words")
      return require(fold == SessionFold(), "a record that was refused changed the fold")
    }
    guard let content = fold.snapshot else { return }
    let (kind, payload) = SessionCodec.encode(content, at: record.time)
    do throws(CodecError) {
      let back = try SessionCodec.decode(sequence: fold.sequence, kind: kind, payload: payload)
      require(back.content == content, "a snapshot came back otherwise")
    } catch {
      finding("a fold's own snapshot does not read back: \(error)")
    }
  }
}
