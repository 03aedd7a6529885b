import Foundation
import Synchronization

// Threads count without a lock (argument "race"), or with one. The sanitizer must report only the former.

let cell = UnsafeMutablePointer<Int>.allocate(capacity: 1)
cell.initialize(to: 0)
let address = Int(bitPattern: cell)
let locked = Mutex(0)
let isLocked = CommandLine.arguments.last != "race"

// A pool might run everything on one thread, so each count has its own. No thread waits for another, so that
// nothing orders them.
let ended = DispatchSemaphore(value: 0)
for _ in 0..<4 {
  Thread.detachNewThread {
    for _ in 0..<20_000 {
      if isLocked {
        locked.withLock { $0 += 1 }
      } else {
        UnsafeMutablePointer<Int>(bitPattern: address)?.pointee += 1
      }
    }
    ended.signal()
  }
}
for _ in 0..<4 { ended.wait() }
cell.deallocate()
