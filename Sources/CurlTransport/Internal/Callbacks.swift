import CCurl
import Glibc
import HTTPRecovery

// libcurl's callbacks. All of them run on the loop's thread, within a call to libcurl; none of them may add, remove or
// free a handle. The contexts are unretained pointers to objects that the loop keeps for longer than libcurl does.

private func easy(_ context: UnsafeMutableRawPointer?) -> EasyHandle? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<EasyHandle>.fromOpaque(context).takeUnretainedValue()
}

let writeCallback: ccurl_data_callback = { bytes, size, count, context in
    guard let context = unsafe context?.assumingMemoryBound(to: ReceivingContext.self), let bytes = unsafe bytes else {
        return 0
    }
    // libcurl says how many bytes there are; they are copied before the return.
    let piece = unsafe UnsafeRawBufferPointer(start: bytes, count: size * count)
    if unsafe context.pointee.reception.takeMore(piece) { return piece.count }
    return unsafe context.pointee.easy.takeUnretainedValue().received(piece)
}

let headerCallback: ccurl_data_callback = { bytes, size, count, context in
    guard let context = unsafe context?.assumingMemoryBound(to: ReceivingContext.self), let bytes = unsafe bytes else {
        return 0
    }
    let total = size * count
    if total == 0 { return 0 }
    let line = unsafe UnsafeBufferPointer(
        start: UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self),
        count: total
    )
    let (limit, known) = unsafe (context.pointee.maxHeaderBytes, context.pointee.knownLines)
    switch unsafe context.pointee.reception.head.take(line, upTo: limit, &known.pointee) {
    case .more: return total
    case .refused: return unsafe context.pointee.easy.takeUnretainedValue().refuse()
    case .complete:
        let easy = unsafe context.pointee.easy.takeUnretainedValue()
        return easy.receivedHead() ? total : easy.refuse()
    }
}

let readCallback: ccurl_data_callback = { bytes, size, count, context in
    let abort = Int(CURL_READFUNC_ABORT)
    guard let easy = unsafe easy(context), let transfer = easy.transfer, let bytes = unsafe bytes else { return abort }
    let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
    if let body = transfer.request.bytesInMemory {
        let rest = body.dropFirst(transfer.sentBytes)
        let part = rest.prefix(buffer.count)
        unsafe buffer.copyBytes(from: part)
        transfer.sentBytes += part.count
        return part.count
    }
    switch unsafe transfer.fillUpload(buffer) {
    case .bytes(let count): return count
    case .end: return 0
    case .wait:
        transfer.isSendPaused = true
        return Int(CURL_READFUNC_PAUSE)
    case .failed:
        transfer.facts.ownReason = .requestBodyFailed
        _ = easy.refuse()
        return abort
    }
}

/// Runs just before each time the request is put on a connection: the first is ours, any other a resend that libcurl
/// decided on by itself, whatever the method.
let prereqCallback: curl_prereq_callback = { context, peerAddress, localAddress, peerPort, localPort in
    guard let easy = unsafe easy(context), let transfer = easy.transfer else { return CURL_PREREQFUNC_ABORT }
    if easy.readsSavedAnswer { return easy.serveSaved() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT }
    if transfer.facts.wireAttempts > 0 {
        transfer.facts.isVetoed = true
        return CURL_PREREQFUNC_ABORT
    }
    if let limit = transfer.sendLimit, limit.hasPassed {
        transfer.facts.ownReason = .sendLimitPassed
        return CURL_PREREQFUNC_ABORT
    }
    transfer.facts.wireAttempts = 1
    transfer.meter?.goesOut(easy)
    if let peerAddress = unsafe peerAddress, let localAddress = unsafe localAddress, localPort > 0 {
        // The texts are libcurl's, and copied.
        let ends = unsafe ConnectionLedger.Ends(
            localPort: localPort,
            peerPort: peerPort,
            localAddress: String(cString: localAddress),
            peerAddress: String(cString: peerAddress)
        )
        easy.socket = easy.loop.ledger.socket(of: ends, likely: easy.socket) ?? easy.socket
    }
    if easy.logs {
        easy.loop.goesOut(transfer)
        transfer.evidence.failuresBefore = easy.loop.ledger.failures
    }
    return CURL_PREREQFUNC_OK
}

let openSocketCallback: curl_opensocket_callback = { context, _, address in
    guard let context = unsafe context, let address = unsafe address else { return CURL_SOCKET_BAD }
    let loop = unsafe Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue()
    let type = unsafe address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    let socket = unsafe Glibc.socket(address.pointee.family, type, address.pointee.protocol)
    if socket >= 0 { loop.opened(socket) }
    return socket
}

let closeSocketCallback: curl_closesocket_callback = { context, socket in
    if let context = unsafe context {
        unsafe Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().closed(socket)
    }
    return close(socket)
}

/// For the connections that bring saved answers: what is left on these is nobody's.
let closeSavedSocketCallback: curl_closesocket_callback = { context, socket in
    if let context = unsafe context {
        unsafe Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue().forget(socket)
    }
    return close(socket)
}

let socketCallback: curl_socket_callback = { handle, socket, what, context, _ in
    guard let context = unsafe context else { return 0 }
    let shard = unsafe Unmanaged<Shard>.fromOpaque(context).takeUnretainedValue()
    if what != CURL_POLL_REMOVE, let handle = unsafe handle, let easy = unsafe easy(ccurl_get_private(handle)),
        // What is opened once the request is out would serve to send it again.
        easy.socket < 0 || easy.transfer?.facts.wireAttempts == 0
    {
        easy.socket = socket
    }
    switch what {
    case CURL_POLL_REMOVE:
        let last = if let handle = unsafe handle { unsafe easy(ccurl_get_private(handle)) } else { EasyHandle?.none }
        shard.loop.poller.remove(
            socket,
            isHTTP2: last?.speaksHTTP2 ?? false,
            isPaused: last?.transfer?.isReceivePaused ?? false
        )
        if let transfer = last?.transfer, transfer.waitsForSourceAlone {
            shard.loop.noteEarlyEnd(of: transfer, on: socket)
        }
    case CURL_POLL_IN: shard.loop.poller.want(Poller.inMask, on: socket, for: shard)
    case CURL_POLL_OUT: shard.loop.poller.want(Poller.outMask, on: socket, for: shard)
    case CURL_POLL_INOUT: shard.loop.poller.want(Poller.inMask | Poller.outMask, on: socket, for: shard)
    default: break
    }
    return 0
}

let timerCallback: curl_multi_timer_callback = { _, milliseconds, context in
    guard let context = unsafe context else { return 0 }
    let shard = unsafe Unmanaged<Shard>.fromOpaque(context).takeUnretainedValue()
    switch milliseconds {
    case ..<0: shard.deadline = Monotonic.never
    case 0: shard.deadline = 0
    default: shard.deadline = Monotonic.now() + UInt64(milliseconds) * 1_000_000
    }
    return 0
}

/// Called wherever libcurl tells its progress: for each byte of what a proxy says behind its refusal of a tunnel, and last before
/// it closes the connection of a transfer that has ended.
let progressCallback: curl_xferinfo_callback = { context, _, _, _, _ in
    guard let easy = unsafe easy(context), let transfer = easy.transfer else { return 0 }
    if easy.isWatched { easy.loop.looksAtEnd(of: transfer, easy) }
    return easy.mayGoOn() ? 0 : 1
}

/// Only set if HTTP/2 may be spoken: libcurl's log is where it says what a server refused.
let debugCallback: curl_debug_callback = { _, type, bytes, size, context in
    guard type == CURLINFO_TEXT, let easy = unsafe easy(context), let bytes = unsafe bytes else { return 0 }
    // The bytes live until the return; the line is read within it.
    let line = unsafe UnsafeBufferPointer(
        start: UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self),
        count: size
    )
    easy.loop.logged(unsafe RefusalEvidence.LogLine(line), by: easy.transfer)
    return 0
}
